import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type PortalPaths, portal } from '../../../api/client.ts';
import { FormError, unwrap } from '../../../api/failure.ts';
import { CREDENTIALS_KEY } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { ChoiceField } from '../../../components/choice-field.tsx';
import { CheckboxField, RadioGroup, SelectField, TextField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { InstallPicker } from '../../../components/install-picker.tsx';
import { useSession } from '../../../session/session.ts';
import { EXPIRIES, expiryOf } from './expiry.ts';

export type IssuedCredential =
  PortalPaths['/portal/api/credentials']['post']['responses'][201]['content']['application/json'];

const REACHES = [
  { value: 'all', label: 'Everything I can access', hint: 'Includes access that you get later.' },
  { value: 'account', label: 'One account' },
  { value: 'installs', label: 'Some installs of one account' },
] as const;

export function NewCredentialForm({
  onIssued,
  onCancel,
}: {
  onIssued(issued: IssuedCredential): void;
  onCancel(): void;
}) {
  const { accounts } = useSession();
  const queries = useQueryClient();
  const name = useFocusOnMount<HTMLInputElement>();
  const [expiry, setExpiry] = useState('90');
  const [reach, setReach] = useState('all');
  const [accountId, setAccountId] = useState(accounts[0]?.id ?? '');
  const [installs, setInstalls] = useState<readonly string[]>([]);

  async function issue(values: FormData) {
    if (reach === 'installs' && installs.length === 0) {
      const message = 'Select at least one install.';
      throw new FormError(message, [{ field: 'install_ids', message }]);
    }
    const body = {
      name: textOf(values, 'name'),
      expires_at: expiryOf(expiry, textOf(values, 'expires_at'), new Date()),
      read_only: values.has('read_only'),
      account_id: reach === 'all' ? null : accountId,
      install_ids: reach === 'installs' ? [...installs] : null,
    };
    const issued = await unwrap(portal.POST('/portal/api/credentials', { body }));
    await queries.invalidateQueries({ queryKey: CREDENTIALS_KEY });
    onIssued(issued);
  }

  return (
    <Form
      submitLabel="Create credential"
      onSubmit={issue}
      fieldOf={(field) => field.replace(/^install_ids\..*/, 'install_ids')}
      actions={<Button onClick={onCancel}>Cancel</Button>}
    >
      <TextField
        ref={name}
        label="Name"
        name="name"
        hint="Helps you recognise the credential later, for example: Monitoring"
        autoComplete="off"
        maxLength={100}
        required
      />
      <SelectField
        label="Expires"
        name="expiry"
        options={EXPIRIES}
        value={expiry}
        onChange={(event) => setExpiry(event.currentTarget.value)}
      />
      {expiry === 'date' && (
        <TextField label="Last day" name="expires_at" type="date" min={today()} required />
      )}
      {accounts.length > 0 && (
        <RadioGroup label="Access" name="reach" options={REACHES} value={reach} onValue={setReach} />
      )}
      {reach !== 'all' && (
        <ChoiceField
          label="Account"
          name="account_id"
          options={accounts.map((account) => ({ value: account.id, label: account.name }))}
          value={accountId}
          onChange={(id) => {
            setAccountId(id);
            setInstalls([]);
          }}
        />
      )}
      {reach === 'installs' && (
        <InstallPicker label="Installs" accountId={accountId} chosen={installs} onChange={setInstalls} />
      )}
      <CheckboxField label="Read-only" name="read_only" hint="Cannot change anything or read private keys." />
    </Form>
  );
}

/** Returns today in the user's time zone, in the format of a date field. */
function today(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
