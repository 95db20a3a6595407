import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { type PortalPaths, portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { usePeople } from '../../api/people.ts';
import type { Precondition } from '../../api/precondition.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { Button } from '../../components/button.tsx';
import { Copyable } from '../../components/copy.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Badge } from '../../components/notice.tsx';
import { Facts, Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { type SessionAccount, useAccount, useMay, useSession } from '../../session/session.ts';

/** The settings of an account: its name and whether it requires a second factor. */
export function SettingsPage({ accountId }: { accountId: string }) {
  const account = useAccount(accountId);
  const may = useMay(accountId);
  return (
    <Page title="Settings" subtitle="These settings apply to everyone in this account.">
      {account && may('account.change') ? (
        <>
          <NameSection account={account} />
          <NicknameSection account={account} />
          <SecondFactorSection account={account} />
          <Section title="API">
            <Facts
              facts={[['Account ID', <Copyable key="account" text={account.id} what="the account ID" />]]}
            />
          </Section>
        </>
      ) : (
        <p>Only owners can change the settings of this account.</p>
      )}
    </Page>
  );
}

/** The part of an account that its owners name. */
type NamedAccount = Pick<SessionAccount, 'name' | 'nickname'>;

type AccountChange = NonNullable<
  PortalPaths['/portal/api/accounts/{account_id}']['patch']['requestBody']
>['content']['application/json'];

function useUpdate(accountId: string) {
  const queries = useQueryClient();
  return async (body: AccountChange, header: Precondition = {}) => {
    const params = { path: { account_id: accountId }, header };
    await unwrap(portal.PATCH('/portal/api/accounts/{account_id}', { params, body }));
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
}

const readAccount = (accountId: string) =>
  portal.GET('/portal/api/accounts/{account_id}', { params: { path: { account_id: accountId } } });

function NameSection({ account }: { account: SessionAccount }) {
  const update = useUpdate(account.id);
  const draft = useDraft<NamedAccount, { name: string }>({
    resource: account,
    fieldsOf: ({ name }) => ({ name }),
    read: () => readAccount(account.id),
    async save({ name = '' }, precondition) {
      await update({ name: name.trim() }, precondition);
      showSuccess(`Renamed the account to ${name.trim()}.`);
    },
  });
  return (
    <Section title="Name">
      <Form draft={draft} submitLabel="Rename account">
        <TextField
          label="Account name"
          hint="Shown to people who switch between accounts."
          required
          maxLength={100}
          autoComplete="off"
          {...draft.field('name')}
        />
      </Form>
    </Section>
  );
}

function NicknameSection({ account }: { account: SessionAccount }) {
  const update = useUpdate(account.id);
  const draft = useDraft<NamedAccount, { nickname: string }>({
    resource: account,
    fieldsOf: ({ nickname }) => ({ nickname: nickname ?? '' }),
    read: () => readAccount(account.id),
    async save({ nickname = '' }, precondition) {
      const chosen = nickname.trim();
      await update({ nickname: chosen }, precondition);
      showSuccess(chosen === '' ? 'Removed the nickname.' : `Saved the nickname ${chosen}.`);
    },
  });
  return (
    <Section title="Nickname">
      <Form draft={draft} submitLabel="Save nickname">
        <TextField
          label="Account nickname"
          hint="A short name for API clients. Optional."
          maxLength={100}
          autoComplete="off"
          {...draft.field('nickname')}
        />
      </Form>
    </Section>
  );
}

function SecondFactorSection({ account }: { account: SessionAccount }) {
  const { user } = useSession();
  const required = account.requires_second_factor;
  const [asking, setAsking] = useState(false);
  const update = useUpdate(account.id);
  return (
    <Section title="Second factor">
      <p>{required ? <Badge tone="good">Required</Badge> : <Badge>Not required</Badge>}</p>
      <p>
        {required
          ? 'Everyone in this account must confirm each sign-in with a code, and cannot turn this off.'
          : 'Each person decides whether to confirm sign-ins with a code.'}
      </p>
      <WithoutFactor accountId={account.id} />
      <p>This applies to the portal only. API credentials keep working without a second factor.</p>
      {!required && !user.mfa_enabled && (
        <p>
          Before you can require one, <Link href="/me/security">turn on your own second factor</Link>.
        </p>
      )}
      <div>
        <Button disabled={!required && !user.mfa_enabled} onClick={() => setAsking(true)}>
          {required ? 'Stop requiring' : 'Require second factor'}
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={required ? 'Stop requiring a second factor?' : 'Require a second factor?'}
        description={
          required
            ? 'People keep their second factor until they turn it off.'
            : 'Signed-in people without a second factor must set one up immediately and lose unsaved changes. Everyone else sets one up at their next sign-in.'
        }
        confirmLabel={required ? 'Stop requiring' : 'Require'}
        onConfirm={async () => {
          await update({ requires_second_factor: !required });
          showSuccess(
            required ? 'A second factor is no longer required.' : 'A second factor is now required.',
          );
        }}
      />
    </Section>
  );
}

function WithoutFactor({ accountId }: { accountId: string }) {
  const { data: people } = usePeople(accountId);
  if (!people) return null;
  const without = people.filter(({ mfa_enabled }) => !mfa_enabled).length;
  const sentence =
    without === 0
      ? 'Everyone in this account has a second factor.'
      : `${without} of ${people.length} ${people.length === 1 ? 'person' : 'people'} in this account ${without === 1 ? 'has' : 'have'} none yet.`;
  return (
    <p>
      {sentence} <Link href={`/accounts/${accountId}/people`}>Show people</Link>
    </p>
  );
}
