import type { Clock } from '../../../lib/clock.ts';
import type { SshQuestions } from '../../contract/questions.ts';
import type { SignedIn } from './ssh-authentication.ts';

/** The key was removed, or its owner lost access to these files. */
export class AccessEndedError extends Error {
  override name = 'AccessEndedError';
}

/** Checks whether a signed-in user still has access. */
export interface Access {
  /**
   * Checks access again. Requests on an `open` handle, such as a file transfer, reuse a result for up to a second. Rejects with
   * {@link AccessEndedError}, or with the cause if the check fails. The request must not run in either case.
   */
  check(open: 'new' | 'open'): Promise<void>;
}

const ANSWER_HOLDS_MS = 1_000;

export function createAccess(signedIn: SignedIn, questions: SshQuestions, clock: Clock): Access {
  const { name, fingerprintSha256, login } = signedIn;
  let askedAt = clock.now().getTime();
  let hasEnded = false;

  return {
    async check(open) {
      if (hasEnded) throw new AccessEndedError(`access to the files of ${name} has ended`);
      const now = clock.now().getTime();
      if (open === 'open' && Math.abs(now - askedAt) < ANSWER_HOLDS_MS) return;
      const present = await questions.sshLogin(name, fingerprintSha256);
      hasEnded = present?.install.id !== login.install.id || present.userId !== login.userId;
      if (hasEnded) throw new AccessEndedError(`access to the files of ${name} has ended`);
      askedAt = now;
    },
  };
}
