import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { portal } from '../../api/client.ts';
import { FormError, unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { sessionState } from '../../api/session-state.ts';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { useShowFailure } from '../../components/toast.tsx';
import { arePasskeysOffered } from '../../passkeys/offered.ts';
import { announceSession } from '../../session/other-windows.ts';
import { useSignOut } from '../../session/session.ts';
import { attemptError } from './attempt-error.ts';
import { Card, CardLinks } from './card.tsx';
import { PasskeySignIn } from './passkey-sign-in.tsx';
import styles from './sign-in.module.css';
import { emailOf, SESSION_ENDED, SESSION_EXPIRED, sentenceOf } from './sign-in-notice.ts';

const WRONG = 'Wrong email address or password.';

/**
 * The sign-in page. It keeps the requested address, which opens after signing in. `expiredOf`: the email address of the user whose session
 * expired, and whose page waits below. `wasEnded`: whether the session was ended elsewhere.
 */
export function SignInPage({ expiredOf, wasEnded }: { expiredOf?: string | undefined; wasEnded: boolean }) {
  const queries = useQueryClient();
  const first = useFocusOnMount<HTMLInputElement>();
  const state = useHistoryState<unknown>();
  const sessionNotice = wasEnded ? SESSION_ENDED : expiredOf === undefined ? null : SESSION_EXPIRED;
  const notice = sentenceOf(state) ?? sessionNotice;
  const known = expiredOf ?? emailOf(state);
  const signOut = useSignOut();
  const showFailure = useShowFailure();

  async function signIn(values: FormData) {
    const body = { email: textOf(values, 'email').trim(), password: textOf(values, 'password') };
    try {
      await unwrap(portal.POST('/portal/api/session', { body }));
    } catch (error) {
      throw attemptError(error, WRONG, 'use a browser in which you have signed in before');
    }
    await openSession();
  }

  async function openSession() {
    announceSession('changed');
    await queries.refetchQueries({ queryKey: SESSION_KEY });
    if (sessionState(queries).session === null) {
      throw new FormError(
        'Your browser did not store the session cookie. Allow cookies and use the address that begins with https.',
      );
    }
  }

  return (
    <Page title="Sign in">
      {notice && (
        <Notice tone={notice.good ? 'good' : 'bad'} role="alert">
          {notice.sentence}
        </Notice>
      )}
      <Card>
        <Form isPrompt submitLabel="Sign in" retriedField="password" onSubmit={signIn}>
          <TextField
            ref={known === '' ? first : undefined}
            label="Email address"
            name="email"
            type="email"
            autoComplete="username webauthn"
            defaultValue={known}
            autoCapitalize="none"
            spellCheck={false}
            required
          />
          <TextField
            ref={known === '' ? undefined : first}
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
          />
        </Form>
        {arePasskeysOffered() && <PasskeySignIn onSignedIn={openSession} />}
        <CardLinks>
          {expiredOf === undefined ? (
            <Link href="/forgotten-password">Forgot your password?</Link>
          ) : (
            <>
              {/* Another page in this window would replace the one that waits. */}
              <a href="forgotten-password" target="_blank" rel="noopener">
                Forgot your password?<span className="visually-hidden"> Opens in a new tab</span>
              </a>
              <button type="button" className={styles.action} onClick={() => signOut().catch(showFailure)}>
                Sign in as another user
              </button>
            </>
          )}
        </CardLinks>
      </Card>
    </Page>
  );
}
