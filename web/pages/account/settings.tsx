import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { usePeople } from '../../api/people.ts';
import { Button } from '../../components/button.tsx';
import { Copyable } from '../../components/copy.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { Badge } from '../../components/notice.tsx';
import { Facts, Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { type SessionAccount, useAccount, useMay, useSession } from '../../session/session.ts';

/** What the account itself is called, and what it demands of its people. */
export function SettingsPage({ accountId }: { accountId: string }) {
  const account = useAccount(accountId);
  const may = useMay(accountId);
  return (
    <Page title="Settings" subtitle="Of the account, for all of its people.">
      {account && may('account.change') ? (
        <>
          <NameSection account={account} />
          <SecondFactorSection account={account} />
          <Section title="For the API">
            <Facts
              facts={[
                [
                  'ID of the account',
                  <Copyable key="account" text={account.id} what="the ID of the account" />,
                ],
              ]}
            />
          </Section>
        </>
      ) : (
        <p>Only an owner can change the settings of this account.</p>
      )}
    </Page>
  );
}

function useUpdate(accountId: string) {
  const queries = useQueryClient();
  return async (body: { name?: string; requires_second_factor?: boolean }) => {
    await unwrap(
      portal.PATCH('/portal/api/accounts/{account_id}', {
        params: { path: { account_id: accountId } },
        body,
      }),
    );
    await queries.invalidateQueries({ queryKey: ['session'] });
  };
}

function NameSection({ account }: { account: SessionAccount }) {
  const update = useUpdate(account.id);
  return (
    <Section title="Name">
      <Form
        submitLabel="Rename the account"
        onSubmit={async (values) => {
          const name = textOf(values, 'name').trim();
          await update({ name });
          showSuccess(`The account is called ${name} now.`);
        }}
      >
        <TextField
          key={account.name}
          label="Name of the account"
          name="name"
          hint="What its people see when they choose between accounts."
          required
          maxLength={100}
          defaultValue={account.name}
          autoComplete="off"
        />
      </Form>
    </Section>
  );
}

function SecondFactorSection({ account }: { account: SessionAccount }) {
  const { user } = useSession();
  const demanded = account.requires_second_factor;
  const [asking, setAsking] = useState(false);
  const update = useUpdate(account.id);
  return (
    <Section title="Second factor">
      <p>
        {demanded ? <Badge tone="good">Demanded</Badge> : <Badge>Not demanded</Badge>}{' '}
        {demanded
          ? 'Whoever is in this account has to confirm each sign-in with a code, and cannot switch that off.'
          : 'Each person decides for themselves whether a sign-in has to be confirmed with a code.'}
      </p>
      <WithoutFactor accountId={account.id} />
      <p>This concerns the portal. API credentials go on working as they are.</p>
      {!demanded && !user.mfa_enabled && (
        <p>
          To demand it of others, have one yourself first:{' '}
          <Link href="/me/security">switch your second factor on</Link>.
        </p>
      )}
      <div>
        <Button disabled={!demanded && !user.mfa_enabled} onClick={() => setAsking(true)}>
          {demanded ? 'Demand it no longer' : 'Demand a second factor'}
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={demanded ? 'Demand no second factor any longer?' : 'Demand a second factor?'}
        description={
          demanded
            ? 'Who has one keeps it until they switch it off themselves.'
            : 'Whoever has none and is in the portal now is taken to setting one up at once, from whatever they are at; what they have typed and not sent is lost. The others are asked when they sign in next.'
        }
        confirmLabel={demanded ? 'Demand it no longer' : 'Demand it'}
        onConfirm={async () => {
          await update({ requires_second_factor: !demanded });
          showSuccess(
            demanded ? 'No second factor is demanded any longer.' : 'A second factor is demanded now.',
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
      ? 'Everybody in this account has a second factor.'
      : `${without} of ${people.length} ${people.length === 1 ? 'person' : 'people'} in this account ${without === 1 ? 'has' : 'have'} none yet.`;
  return (
    <p>
      {sentence} <Link href={`/accounts/${accountId}/people`}>See the people</Link>
    </p>
  );
}
