import { useState } from 'react';
import { errorMessage } from '../api/failure.ts';

/** An attempt with a passkey, for its button. */
export interface PasskeyAttempt {
  pending: boolean;
  /** The last failure. `number` counts them, so that screen readers announce a repeated message again. */
  failure: { number: number; message: string } | null;
}

/** Returns the state of attempts with a passkey, and a function that runs one. */
export function usePasskeyAttempt(): [PasskeyAttempt, (work: () => Promise<void>) => Promise<void>] {
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<PasskeyAttempt['failure']>(null);

  async function run(work: () => Promise<void>) {
    setPending(true);
    try {
      await work();
      setFailure(null);
    } catch (error) {
      setFailure((before) => ({ number: (before?.number ?? 0) + 1, message: errorMessage(error) }));
    } finally {
      setPending(false);
    }
  }

  return [{ pending, failure }, run];
}
