import { useState } from 'react';
import { Link } from 'wouter';
import { portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { attemptError } from './attempt-error.ts';
import { Card, CardLinks } from './card.tsx';

/** Requests a password link. The response is the same for unknown addresses, so that it does not reveal users. */
export function ForgottenPasswordPage() {
  const [asked, setAsked] = useState<string | null>(null);
  const email = useFocusOnMount<HTMLInputElement>();

  async function ask(values: FormData) {
    const typed = textOf(values, 'email').trim();
    try {
      await unwrapEmpty(portal.POST('/portal/api/password_resets', { body: { email: typed } }));
    } catch (error) {
      throw attemptError(error, '');
    }
    setAsked(typed);
  }

  return (
    <Page title="Reset password">
      <Card>
        {asked === null ? (
          <Form isPrompt submitLabel="Send link" onSubmit={ask}>
            <TextField
              ref={email}
              label="Email address"
              name="email"
              type="email"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              hint="We email you a link to set a new password."
              required
            />
          </Form>
        ) : (
          <Asked email={asked} />
        )}
        <CardLinks>
          <Link href="/sign-in">Back to sign-in</Link>
        </CardLinks>
      </Card>
    </Page>
  );
}

function Asked({ email }: { email: string }) {
  const notice = useFocusOnMount<HTMLDivElement>();
  return (
    <Notice ref={notice} tone="good" role="status" title="Check your email">
      If {email} belongs to a user, we sent a link to it. The link works once and expires after one hour. If
      it does not arrive within a few minutes, check your spam folder.
    </Notice>
  );
}
