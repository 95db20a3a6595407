import { useState } from 'react';
import { portal } from '../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../api/failure.ts';
import { type SecondFactor, useSecondFactor } from '../../api/me.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Facts, Section } from '../../components/page.tsx';
import { arePasskeysOffered, loadPasskeys } from '../../passkeys/offered.ts';
import { useSession } from '../../session/session.ts';

/** Shows and changes the email address that the user signs in with. */
export function EmailSection() {
  const { user } = useSession();
  const [asked, setAsked] = useState<string | null>(null);

  async function ask(values: FormData) {
    const email = textOf(values, 'email').trim();
    const code = textOf(values, 'code').trim();
    const proof = code === '' && user.mfa_enabled ? await passkeyIfAny() : code && { code };
    const body = { email, current_password: textOf(values, 'current_password'), ...proof };
    await unwrapEmpty(portal.POST('/portal/api/email_changes', { body }));
    setAsked(email);
  }

  return (
    <Section title="Email address">
      <Facts facts={[['Current address', user.email]]} />
      {asked === null ? (
        <Form submitLabel="Send confirmation link" onSubmit={ask}>
          <TextField
            label="New email address"
            name="email"
            type="email"
            autoComplete="email"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={254}
            hint="We send a link to this address. The change applies once you open the link and confirm."
            required
          />
          <TextField
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
            required
          />
          {user.mfa_enabled && <FactorField />}
        </Form>
      ) : (
        <Asked email={asked} onAgain={() => setAsked(null)} />
      )}
    </Section>
  );
}

/** A code, or nothing for users who can confirm with a passkey instead. The server says if it is missing. */
function FactorField() {
  const { data: factor } = useSecondFactor();
  const mayUsePasskey = factor === undefined || hasPasskey(factor);
  return (
    <TextField
      label="Code"
      name="code"
      hint={
        mayUsePasskey
          ? 'A code from your authenticator app, or a recovery code. Leave it empty to use a passkey.'
          : 'A six-digit code from your authenticator app, or a recovery code.'
      }
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={64}
    />
  );
}

const hasPasskey = ({ passkeys }: SecondFactor): boolean => passkeys > 0 && arePasskeysOffered();

/** Confirms the change with a passkey. Without one, the server asks for a code. */
async function passkeyIfAny() {
  if (!hasPasskey(await unwrap(portal.GET('/portal/api/second_factor')))) return {};
  const { confirmByPasskey } = await loadPasskeys();
  return { passkey: await confirmByPasskey() };
}

/** Shown for every address, so that it does not reveal which ones have an account. */
function Asked({ email, onAgain }: { email: string; onAgain(): void }) {
  const notice = useFocusOnMount<HTMLDivElement>();
  return (
    <>
      <Notice ref={notice} tone="good" role="status" title="Check your email">
        We sent a link to {email}. Open it within one hour. Until then, your address stays the same. If it
        does not arrive within a few minutes, check your spam folder.
      </Notice>
      <div>
        <Button onClick={onAgain}>Use another address</Button>
      </div>
    </>
  );
}
