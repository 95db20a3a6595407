import { portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Queries } from '../../../database/database.ts';
import { minuteOf } from '../../../database/last-uses.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findUserById } from '../users/store.ts';
import { CHALLENGE_MS, type ChallengeUse, createChallenges } from './challenges.ts';
import { type RelyingParty, relyingPartyOf } from './relying-party.ts';
import type { Assertion, RequestOptions } from './schema.ts';
import { findDescriptorsOf, findPasskeyByCredential, notePasskeyUse, type PasskeyKey } from './store.ts';
import { answeredChallenge, verifyAssertion } from './verification.ts';

/** A passkey with a right signature. It works once, so {@link PasskeyVerifier.use} decides whether it is still valid. */
export interface PasskeyMatch {
  kind: 'passkey';
  userId: string;
  passkeyId: string;
  challenge: string;
  counter: number;
  synced: boolean;
}

export interface PasskeyVerifier {
  /** Options for the browser: any passkey without `userId`, otherwise one of this user. Throws InvalidRequest without a host name. */
  options(use: ChallengeUse, userId?: string): Promise<RequestOptions>;
  /**
   * Recognises the signature of a passkey; undefined if anything about it is wrong. With `userId`, only that user's passkeys match.
   * A right signature with an old counter is logged and refused, because the passkey may have been copied.
   */
  match(
    assertion: Assertion,
    asked: { use: ChallengeUse; userId?: string; origin: RequestOrigin },
  ): Promise<PasskeyMatch | undefined>;
  /** Uses the signature up, in the transaction that it permits. Returns false if it was used before or the passkey is gone. */
  use(queries: Queries, match: PasskeyMatch): Promise<boolean>;
}

export function createPasskeyVerifier(platform: Platform): PasskeyVerifier {
  const { config, database, clock, activity } = platform;
  const { reader } = database;
  const party = relyingPartyOf(config.publicUrl);
  const challenges = createChallenges(platform);

  /** Logs a passkey whose counter went back, which notifies its user. */
  async function reportCopy({ id, user_id: userId, name }: PasskeyKey, origin: RequestOrigin): Promise<void> {
    const actor = { userId: null, origin: portalCaller(userId, origin).origin };
    await database.write(async (transaction) => {
      const person = await findUserById(transaction.queries, userId);
      if (!person) return;
      await activity.recordForUser(
        transaction,
        actor,
        { userId },
        { action: 'passkey.refuse', subject: { id, name }, details: { of: person.email } },
      );
    });
  }

  return {
    async options(use, userId) {
      const { id: rpId } = requireParty(party);
      return {
        challenge: challenges.issue(use),
        rpId,
        timeout: CHALLENGE_MS,
        userVerification: 'required',
        allowCredentials: userId === undefined ? [] : await descriptorsOf(reader, userId),
      };
    },

    async match(assertion, { use, userId, origin }) {
      const challenge = answeredChallenge(assertion.response.clientDataJSON);
      if (party === null || challenge === undefined || !challenges.isCurrent(challenge, use))
        return undefined;
      const passkey = await findPasskeyByCredential(reader, assertion.id);
      if (!passkey || passkey.user_id !== (userId ?? userOfHandle(assertion))) return undefined;
      const verified = await verifyAssertion(party, assertion, { publicKey: passkey.public_key, challenge });
      if (!verified) return undefined;
      const { counter, synced } = verified;
      if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) {
        await reportCopy(passkey, origin);
        return undefined;
      }
      const { id: passkeyId, user_id } = passkey;
      return { kind: 'passkey', userId: user_id, passkeyId, challenge, counter, synced };
    },

    async use(queries, { passkeyId: id, challenge, counter, synced }) {
      if (!(await challenges.spend(queries, challenge))) return false;
      return notePasskeyUse(queries, { id, counter, synced, minute: minuteOf(clock.now()) });
    },
  };
}

/** The user that a passkey says it belongs to. An authenticator gives it if the browser asked for no particular passkey. */
function userOfHandle({ response: { userHandle = '' } }: Assertion): string {
  return Buffer.from(userHandle, 'base64url').toString('utf8');
}

/** The id by which authenticators know a user: text, so that it needs no decoding. */
export const userHandleOf = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');

export function requireParty(party: RelyingParty | null): RelyingParty {
  if (party) return party;
  throw new InvalidRequest(
    'Passkeys need a host name and HTTPS. This portal is at an IP address or uses plain HTTP',
  );
}

/** How a browser recognises a user's passkeys. */
export async function descriptorsOf(queries: Queries, userId: string) {
  const found = await findDescriptorsOf(queries, userId);
  return found.map(({ credential_id, transports }) => ({
    id: credential_id,
    type: 'public-key' as const,
    transports: transports.split(' ').filter((transport) => transport !== ''),
  }));
}
