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

/** Says the same whoever has the address. */
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
    <Page title="Forgotten password">
      <Card>
        {asked === null ? (
          <Form submitLabel="Send me a link" onSubmit={ask}>
            <TextField
              ref={email}
              label="E-mail address"
              name="email"
              type="email"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              hint="We send a link there with which you set a new password."
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
    <Notice ref={notice} tone="good" role="status" title="Look into your mail">
      If somebody has the address {email} here, a mail with a link is on its way. The link works once, and for
      an hour. Nothing there after a few minutes? Look among the unwanted mails too.
    </Notice>
  );
}
