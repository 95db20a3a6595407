import { useState } from 'react';
import { portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Facts, Section } from '../../components/page.tsx';
import { useSession } from '../../session/session.ts';

/** The address that the person signs in with, and how they get another one. */
export function EmailSection() {
  const { user } = useSession();
  const [asked, setAsked] = useState<string | null>(null);

  async function ask(values: FormData) {
    const email = textOf(values, 'email').trim();
    const code = textOf(values, 'code').trim();
    const body = { email, current_password: textOf(values, 'current_password'), ...(code && { code }) };
    await unwrapEmpty(portal.POST('/portal/api/email_changes', { body }));
    setAsked(email);
  }

  return (
    <Section title="E-mail address">
      <Facts facts={[['You sign in as', user.email]]} />
      {asked === null ? (
        <Form submitLabel="Send a link there" onSubmit={ask}>
          <TextField
            label="New e-mail address"
            name="email"
            type="email"
            autoComplete="email"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={254}
            hint="We send a link there. Your address is changed when you have opened it and said yes."
            required
          />
          <TextField
            label="Current password"
            name="current_password"
            type="password"
            autoComplete="current-password"
            required
          />
          {user.mfa_enabled && (
            <TextField
              label="Code"
              name="code"
              hint="The six digits of your app, or one of your recovery codes."
              autoComplete="one-time-code"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={64}
              required
            />
          )}
        </Form>
      ) : (
        <Asked email={asked} onAgain={() => setAsked(null)} />
      )}
    </Section>
  );
}

/** Says the same whoever has the address. */
function Asked({ email, onAgain }: { email: string; onAgain(): void }) {
  const notice = useFocusOnMount<HTMLDivElement>();
  return (
    <>
      <Notice ref={notice} tone="good" role="status" title="Look into your mail">
        A mail is on its way to {email}. Open the link in it within an hour; until then you sign in as before.
        Nothing there after a few minutes? Look among the unwanted mails too.
      </Notice>
      <div>
        <Button onClick={onAgain}>Another address</Button>
      </div>
    </>
  );
}
