import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { portal } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import {
  PASSKEYS_KEY,
  type Passkey,
  SECOND_FACTOR_KEY,
  SESSIONS_KEY,
  type SecondFactor,
  usePasskeys,
  useSecondFactor,
} from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/query-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice, Tag } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, RowMenu, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { arePasskeysOffered } from '../../../passkeys/offered.ts';
import { useSession } from '../../../session/session.ts';
import { AddPasskey } from './add-passkey.tsx';
import { FactorForm } from './identity-form.tsx';
import { RecoveryCodesShown } from './recovery-codes-shown.tsx';

/** Changes that users make to their passkeys. */
type Change =
  | { what: 'add' }
  | { what: 'rename' | 'remove'; passkey: Passkey }
  | { what: 'codes'; codes: readonly string[] };

/** The user's passkeys, which sign in without the password. */
export function PasskeysSection() {
  const passkeys = usePasskeys();
  const factor = useSecondFactor();
  const { user } = useSession();
  const queries = useQueryClient();
  const [change, setChange] = useState<Change | null>(null);
  const close = () => setChange(null);

  async function reload() {
    await Promise.all(
      [PASSKEYS_KEY, SECOND_FACTOR_KEY, SESSIONS_KEY, SESSION_KEY].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  }

  async function added(name: string, codes: readonly string[]) {
    // Reloading the session must wait until the user has saved the codes.
    if (codes.length > 0) return setChange({ what: 'codes', codes });
    close();
    showSuccess(`Added the passkey ${name}.`);
    await reload();
  }

  if (change?.what === 'codes') {
    return (
      <Section title="Passkeys">
        <RecoveryCodesShown
          codes={change.codes}
          email={user.email}
          onKept={async () => {
            close();
            showSuccess('Added your first passkey. Other sessions were signed out.');
            await reload();
          }}
        />
      </Section>
    );
  }

  const canAdd = passkeys.data?.available === true && arePasskeysOffered();
  return (
    <Section
      title="Passkeys"
      actions={canAdd ? <Button onClick={() => setChange({ what: 'add' })}>Add passkey</Button> : undefined}
    >
      <p>
        A passkey signs you in with your fingerprint, face, PIN or security key, without a password or code.
      </p>
      <Loaded query={passkeys} what="your passkeys">
        {({ available, results }) => (
          <>
            {!canAdd && <NotOffered available={available} />}
            {results.length === 0 ? (
              canAdd && <Empty>You have no passkeys yet.</Empty>
            ) : (
              <Table
                caption="Your passkeys"
                columns={columns((what, passkey) => setChange({ what, passkey }))}
                rows={results}
                rowKey={({ id }) => id}
              />
            )}
          </>
        )}
      </Loaded>
      {factor.data && (
        <>
          <AddDialog factor={factor.data} open={change?.what === 'add'} onAdded={added} onClose={close} />
          {change && change.what !== 'add' && (
            <ChangeDialog
              what={change.what}
              passkey={change.passkey}
              factor={factor.data}
              onDone={async (sentence) => {
                close();
                showSuccess(sentence);
                await reload();
              }}
              onClose={close}
            />
          )}
        </>
      )}
    </Section>
  );
}

/** Says why there is no button to add a passkey. */
function NotOffered({ available }: { available: boolean }) {
  return (
    <Notice>
      {available && arePasskeysOffered() === false && window.isSecureContext
        ? 'This browser does not support passkeys. Use a newer browser to add one.'
        : 'Passkeys need HTTPS and a host name. This portal is at an IP address or uses plain HTTP. Ask your provider for its address.'}
    </Notice>
  );
}

function AddDialog({
  factor,
  open,
  onAdded,
  onClose,
}: {
  factor: SecondFactor;
  open: boolean;
  onAdded(name: string, codes: readonly string[]): Promise<void>;
  onClose(): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title="Add passkey"
      description={
        factor.enabled
          ? 'Confirm that it is you. Then your browser creates the passkey.'
          : 'Confirm that it is you. Then your browser creates the passkey. It becomes your second factor, and you get recovery codes.'
      }
    >
      <AddPasskey factor={factor} onAdded={onAdded} />
    </Dialog>
  );
}

function ChangeDialog({
  what,
  passkey: { id, name },
  factor,
  onDone,
  onClose,
}: {
  what: 'rename' | 'remove';
  passkey: Passkey;
  factor: SecondFactor;
  onDone(sentence: string): Promise<void>;
  onClose(): void;
}) {
  const params = { path: { passkey_id: id } };
  const isLast = factor.passkeys === 1 && !factor.one_time_codes;

  async function rename(values: FormData) {
    const body = { name: textOf(values, 'name').trim() };
    await unwrap(portal.PATCH('/portal/api/passkeys/{passkey_id}', { params, body }));
    await onDone(`Renamed the passkey to ${body.name}.`);
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={what === 'rename' ? 'Rename passkey' : `Remove the passkey ${name}?`}
      description={what === 'remove' ? consequenceOf(isLast) : undefined}
    >
      {what === 'rename' ? (
        <Form submitLabel="Rename" onSubmit={rename}>
          <TextField label="Name" name="name" defaultValue={name} maxLength={100} required />
        </Form>
      ) : (
        <FactorForm
          factor={factor}
          submitLabel="Remove passkey"
          danger
          onFactor={async (body) => {
            await unwrapEmpty(portal.POST('/portal/api/passkeys/{passkey_id}/removal', { params, body }));
            await onDone(`Removed the passkey ${name}.`);
          }}
        />
      )}
    </Dialog>
  );
}

const consequenceOf = (isLast: boolean): string =>
  isLast
    ? 'It is your only second factor. Afterwards you sign in with your password alone, and your recovery codes stop working.'
    : 'It no longer signs you in. Delete it from your device or password manager too. If you lost the device, also end its sessions.';

const columns = (onChange: (what: 'rename' | 'remove', passkey: Passkey) => void): Column<Passkey>[] => [
  {
    id: 'name',
    header: 'Name',
    rowHeader: true,
    cell: ({ name, synced }) => (
      <>
        {name} {synced && <Tag>Synced</Tag>}
      </>
    ),
  },
  { id: 'created', header: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'used',
    header: 'Last used',
    cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
  },
  {
    id: 'actions',
    header: 'Actions',
    cell: (passkey) => (
      <RowMenu
        name={passkey.name}
        entries={[
          { label: 'Rename', onSelect: () => onChange('rename', passkey) },
          { label: 'Remove', onSelect: () => onChange('remove', passkey) },
        ]}
      />
    ),
  },
];
