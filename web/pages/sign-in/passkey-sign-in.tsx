import { useEffect, useEffectEvent, useState } from 'react';
import { portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Assertion } from '../../passkeys/ask-browser.ts';
import { loadPasskeys } from '../../passkeys/offered.ts';
import { PasskeyButton } from '../../passkeys/passkey-button.tsx';
import { usePasskeyAttempt } from '../../passkeys/use-passkey-attempt.ts';
import { attemptError } from './attempt-error.ts';

const REFUSED =
  'This passkey does not sign in here. It may have been removed, or the page was open for too long. Try again, or use your password.';

const requestOptions = () => unwrap(portal.POST('/portal/api/session/passkey/options'));

/**
 * Signs in with a passkey alone: by a button, and by the browser's suggestions for the field of the email address. `onSignedIn` runs
 * when the server has accepted it.
 */
export function PasskeySignIn({ onSignedIn }: { onSignedIn(): Promise<void> }) {
  const [attempt, run] = usePasskeyAttempt();
  // The button ends the suggestions, which start again afterwards.
  const [round, setRound] = useState(0);

  async function signIn(passkey: Assertion) {
    try {
      await unwrap(portal.POST('/portal/api/session/passkey', { body: { passkey } }));
    } catch (error) {
      throw attemptError(error, REFUSED, 'use your password');
    }
    await onSignedIn();
  }

  async function attemptWith(find: () => Promise<Assertion>) {
    await run(async () => signIn(await find()));
    setRound((before) => before + 1);
  }

  const suggest = useEffectEvent(async (signal: AbortSignal) => {
    const { passkeyFromSuggestions } = await loadPasskeys();
    const chosen = await passkeyFromSuggestions(signal, requestOptions);
    if (chosen && !signal.aborted) await attemptWith(async () => chosen);
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round starts the suggestions again
  useEffect(() => {
    const ended = new AbortController();
    // Without suggestions the button remains, which shows errors.
    suggest(ended.signal).catch(() => {});
    return () => ended.abort();
  }, [round]);

  return (
    <PasskeyButton
      label="Sign in with a passkey"
      attempt={attempt}
      onPress={() =>
        attemptWith(async () => {
          const { askForPasskey } = await loadPasskeys();
          return askForPasskey(await requestOptions());
        })
      }
    />
  );
}
