import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { portal } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import { SESSIONS_KEY } from '../../../api/me.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { NewPasswordFields, newPasswordOf } from '../../../components/new-password.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';

/** Changes the password, which ends the sessions in all other browsers. */
export function PasswordSection() {
  const queries = useQueryClient();
  const [changes, setChanges] = useState(0);
  const { user } = useSession();

  async function change(values: FormData) {
    const body = { current_password: textOf(values, 'current_password'), password: newPasswordOf(values) };
    await unwrapEmpty(portal.POST('/portal/api/password', { body }));
    setChanges(changes + 1);
    showSuccess('Changed your password. Your other sessions were signed out.');
    await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
  }

  return (
    <Section title="Password">
      {/* A new key clears the fields after each change. */}
      <Form key={changes} submitLabel="Change password" onSubmit={change}>
        {/* Password managers need the username to store the password. */}
        <input type="text" name="username" autoComplete="username" value={user.email} readOnly hidden />
        <TextField
          label="Current password"
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
        />
        <NewPasswordFields />
      </Form>
      <p>
        A new password does not affect your passkeys, <Link href="/me/api-access">API credentials</Link> and{' '}
        <Link href="/me/ssh-keys">SSH keys</Link>. If someone else may know the old password, review them.
      </p>
    </Section>
  );
}
