import type { RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { InvalidRequest, invalidValue, Unauthenticated } from '../../../lib/failures.ts';
import { verifyPassword } from '../../../secrets/password-hash.ts';
import type { Attempt, SignInLimits } from '../limits/sign-in-limits.ts';
import { findUserById } from '../users/store.ts';
import type { PresentedFactor, PresentedIdentity } from './schema.ts';
import { hasSecondFactor } from './store.ts';
import type { FactorMatch, FactorVerifier } from './verification.ts';

/** A second factor that a signed-in user presented, counted as wrong until {@link Attempt.succeeded}. */
export interface ConfirmedFactor {
  match: FactorMatch;
  attempt: Attempt;
}

/** Confirms that a signed-in user acts, before a change to how they sign in. `resource`: for the errors. */
export interface Confirmation {
  /** Checks a second factor without using it up. Throws InvalidRequest if it is missing or wrong, RateLimited. */
  requireFactor(
    session: Session,
    presented: PresentedFactor,
    asked: { resource: string; origin: RequestOrigin },
  ): Promise<ConfirmedFactor>;
  /**
   * Checks the second factor of a user who has one, otherwise the password: a stolen password must not add a second factor. Throws
   * InvalidRequest if it is missing or wrong, RateLimited.
   */
  requireIdentity(
    session: Session,
    presented: PresentedIdentity,
    asked: { resource: string; origin: RequestOrigin },
  ): Promise<ConfirmedFactor | null>;
}

export function createConfirmation(
  reader: Queries,
  limits: SignInLimits,
  factors: FactorVerifier,
): Confirmation {
  const requireFactor: Confirmation['requireFactor'] = async (session, presented, { resource, origin }) => {
    const { code, passkey } = presented;
    if (code === undefined && passkey === undefined) throw factorRequired(resource);
    const attempt = await limits.presentCode(session.userId);
    const match = await factors.match(session, presented, origin);
    if (!match) throw wrongFactor(resource, presented);
    return { match, attempt };
  };

  return {
    requireFactor,
    async requireIdentity(session, presented, asked) {
      const { userId } = session;
      if (await hasSecondFactor(reader, userId)) return requireFactor(session, presented, asked);
      const { password } = presented;
      if (password === undefined) throw passwordRequired(asked.resource);
      const person = await findUserById(reader, userId);
      if (!person) throw new Unauthenticated('Authentication required');
      await limits.enrolment(userId);
      if (!(await verifyPassword(password, person.password_hash))) {
        throw invalidValue(asked.resource, 'password', 'wrong', 'The password is wrong');
      }
      return null;
    },
  };
}

/** The error of a wrong second factor, in the field that holds it. */
export function wrongFactor(resource: string, { code }: PresentedFactor): InvalidRequest {
  return code === undefined
    ? invalidValue(resource, 'passkey', 'wrong', 'The passkey was not accepted. Try again')
    : invalidValue(resource, 'code', 'wrong', 'The code is wrong or was already used');
}

const missing = (resource: string, field: string, message: string) =>
  new InvalidRequest(message, [{ resource, field, type: 'missing_field', code: 'required', message }]);

const factorRequired = (resource: string) =>
  missing(resource, 'code', 'Use a passkey, or enter a code from your app or a recovery code');

const passwordRequired = (resource: string) => missing(resource, 'password', 'Enter your password');
