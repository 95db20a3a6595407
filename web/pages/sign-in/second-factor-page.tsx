import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { type PortalPaths, portal } from '../../api/client.ts';
import { ApiFailure, unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { type PortalSession, sessionState } from '../../api/session-state.ts';
import { Button } from '../../components/button.tsx';
import { CodeField, RecoveryCodeField } from '../../components/code-field.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { useShowFailure } from '../../components/toast.tsx';
import { arePasskeysOffered, loadPasskeys } from '../../passkeys/offered.ts';
import { PasskeyButton } from '../../passkeys/passkey-button.tsx';
import { usePasskeyAttempt } from '../../passkeys/use-passkey-attempt.ts';
import { announceSession } from '../../session/other-windows.ts';
import { useSignOut } from '../../session/session.ts';
import { attemptError } from './attempt-error.ts';
import { Card, CardLinks } from './card.tsx';
import { noticeState } from './sign-in-notice.ts';

type Presented =
  PortalPaths['/portal/api/session/second_factor']['post']['requestBody']['content']['application/json'];

/** The ways to finish, in the order in which they are offered. */
const KINDS = ['passkey', 'app', 'recovery'] as const;
type Kind = (typeof KINDS)[number];

const SWITCHES: Record<Kind, string> = {
  passkey: 'Use a passkey',
  app: 'Use the authenticator app',
  recovery: 'Use a recovery code',
};

const WRONG: Record<Kind, string> = {
  passkey: 'The passkey was not accepted. Try again, or use a recovery code.',
  app: 'The code is wrong or was used before. Wait for the next code in the app.',
  recovery: 'The recovery code is wrong or was used before.',
};

/** The second step of signing in: a passkey, a code from the app, or a recovery code. `factors`: what the user has set up. */
export function SecondFactorPage({ factors }: { factors: PortalSession['second_factors'] }) {
  const hasPasskey = factors.includes('passkey');
  const kinds = KINDS.filter(
    (kind) =>
      kind === 'recovery' ||
      (kind === 'passkey' ? hasPasskey && arePasskeysOffered() : factors.includes('one_time_code')),
  );
  const [chosen, setChosen] = useState<Kind>();
  const kind = chosen ?? kinds[0] ?? 'recovery';
  const signOut = useSignOut();
  const showFailure = useShowFailure();
  const pass = usePassSecondFactor();
  const passCode = (values: FormData) => pass({ code: textOf(values, 'code') }, kind);
  return (
    <Page title="Second factor">
      <Card>
        {kind === 'passkey' && <ByPasskey onPasskey={(passkey) => pass({ passkey }, kind)} />}
        {kind === 'app' && (
          <Form isPrompt key="app" submitLabel="Continue" onSubmit={passCode}>
            <CodeField hint="The current code in your authenticator app." />
          </Form>
        )}
        {kind === 'recovery' && (
          <>
            {hasPasskey && !kinds.includes('passkey') && (
              <p>This browser cannot use your passkeys at this address. Use a recovery code instead.</p>
            )}
            <Form isPrompt key="recovery" submitLabel="Continue" onSubmit={passCode}>
              <RecoveryCodeField />
            </Form>
          </>
        )}
        <CardLinks>
          {kinds
            .filter((other) => other !== kind)
            .map((other) => (
              <Button key={other} small variant="quiet" onClick={() => setChosen(other)}>
                {SWITCHES[other]}
              </Button>
            ))}
          <Button small variant="quiet" onClick={() => signOut().catch(showFailure)}>
            Sign in as another user
          </Button>
        </CardLinks>
      </Card>
    </Page>
  );
}

function ByPasskey({ onPasskey }: { onPasskey(passkey: NonNullable<Presented['passkey']>): Promise<void> }) {
  const [attempt, run] = usePasskeyAttempt();
  return (
    <>
      <p>Confirm that it is you with your passkey: by fingerprint, face, PIN or security key.</p>
      <PasskeyButton
        primary
        focused
        label="Continue with a passkey"
        attempt={attempt}
        onPress={() =>
          run(async () => {
            const { askForPasskey } = await loadPasskeys();
            const options = await unwrap(portal.POST('/portal/api/session/second_factor/options'));
            await onPasskey(await askForPasskey(options));
          })
        }
      />
    </>
  );
}

function usePassSecondFactor() {
  const queries = useQueryClient();
  const [location, navigate] = useLocation();
  return async (body: Presented, kind: Kind) => {
    try {
      await unwrap(portal.POST('/portal/api/session/second_factor', { body }));
    } catch (error) {
      // The server responds with 401 to a wrong factor and to an ended session. Reloading the session shows which it was.
      const refused = error instanceof ApiFailure && error.status === 401;
      if (refused) await queries.refetchQueries({ queryKey: SESSION_KEY });
      if (refused && sessionState(queries).session === null) {
        // Too many wrong codes ended it, or it expired. The other windows ask which.
        announceSession('changed');
        navigate(location + window.location.search, { replace: true, state: noticeState('ended') });
        return;
      }
      throw attemptError(error, WRONG[kind], kind === 'recovery' ? undefined : 'use a recovery code');
    }
    announceSession('changed');
    await queries.refetchQueries({ queryKey: SESSION_KEY });
  };
}
