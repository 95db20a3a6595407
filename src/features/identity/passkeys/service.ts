import { type Caller, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest, invalidValue, NotFound, taken } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { SignInLimits } from '../limits/sign-in-limits.ts';
import { createConfirmation, wrongFactor } from '../second-factor/confirmation.ts';
import { hashRecoveryCodes, newRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { requireNoAccountNeedsFactor } from '../second-factor/requirement.ts';
import type { PresentedFactor, PresentedIdentity } from '../second-factor/schema.ts';
import {
  findSecondFactor,
  hasSecondFactor,
  replaceRecoveryCodes,
  switchOff,
  switchOn,
} from '../second-factor/store.ts';
import { createFactorVerifier } from '../second-factor/verification.ts';
import { endOtherSessions } from '../sessions/ending.ts';
import type { RenewedSession } from '../sessions/token.ts';
import { findUserById, type UserWithPassword } from '../users/store.ts';
import { authenticatorName } from '../webauthn/authenticator-names.ts';
import { CHALLENGE_MS, createChallenges } from '../webauthn/challenges.ts';
import { relyingPartyOf } from '../webauthn/relying-party.ts';
import type { CreationOptions, PasskeyView, Registration, RequestOptions } from '../webauthn/schema.ts';
import {
  countPasskeys,
  deletePasskey,
  findPasskeysOf,
  insertPasskey,
  renamePasskey,
} from '../webauthn/store.ts';
import { ALGORITHMS, answeredChallenge, verifyRegistration } from '../webauthn/verification.ts';
import { createPasskeyVerifier, descriptorsOf, requireParty, userHandleOf } from '../webauthn/verifier.ts';

/** Passkeys of one user. */
export const MAX_PASSKEYS = 20;

export interface AddedPasskey {
  passkey: PasskeyView;
  /** Ten codes if the user had no second factor before; otherwise empty. */
  recoveryCodes: string[];
  /** The new token of the session if the user had no second factor before, which ends their other sessions. */
  renewed: RenewedSession | null;
}

/** The passkeys of a signed-in user: a second factor that also signs in without the password. */
export interface PasskeyService {
  /** `available`: whether the portal has a host name, without which browsers offer no passkeys. */
  list(session: Session): Promise<{ available: boolean; results: PasskeyView[] }>;
  /**
   * Creation options for the browser. Throws InvalidRequest if the password, or the second factor of a user who has one, is wrong, if
   * the user has too many passkeys, or without a host name; RateLimited.
   */
  creationOptions(
    session: Session,
    presented: PresentedIdentity,
    origin: RequestOrigin,
  ): Promise<CreationOptions>;
  /** Adds a passkey. `name` is used if its maker is unknown. Throws InvalidRequest. */
  add(
    session: Session,
    created: { credential: Registration; name?: string },
    origin: RequestOrigin,
  ): Promise<AddedPasskey>;
  /** Options to confirm a change with one of the user's passkeys. Throws InvalidRequest without a host name. */
  confirmationOptions(session: Session): Promise<RequestOptions>;
  /** Renames a passkey. Throws NotFound. */
  rename(caller: Caller, id: string, name: string): Promise<PasskeyView>;
  /**
   * Removes a passkey. The last second factor takes the recovery codes with it. Throws InvalidRequest if the second factor is wrong,
   * or none would be left and an account requires one; NotFound; RateLimited.
   */
  remove(session: Session, id: string, presented: PresentedFactor, origin: RequestOrigin): Promise<void>;
}

const RESOURCE = 'Passkey';

export function createPasskeyService(platform: Platform, limits: SignInLimits): PasskeyService {
  const { config, database, clock, random, activity } = platform;
  const { reader } = database;
  const party = relyingPartyOf(config.publicUrl);
  const challenges = createChallenges(platform);
  const passkeys = createPasskeyVerifier(platform);
  const factors = createFactorVerifier(platform, passkeys);
  const { requireIdentity, requireFactor } = createConfirmation(reader, limits, factors);

  const creationOptions: PasskeyService['creationOptions'] = async (session, presented, origin) => {
    const { id: browser, userId } = session;
    const { id: rpId } = requireParty(party);
    if ((await countPasskeys(reader, userId)) >= MAX_PASSKEYS) throw tooMany();
    const proof = await requireIdentity(session, presented, { resource: RESOURCE, origin });
    const { email, first_name, last_name } = await changeUser(userId, async ({ queries }, person) => {
      if (proof && !(await factors.use(queries, proof.match))) throw wrongFactor(RESOURCE, presented);
      return person;
    });
    proof?.attempt.succeeded();
    return {
      challenge: challenges.issue({ purpose: 'registration', browser }),
      rp: { id: rpId, name: 'Homeport' },
      user: { id: userHandleOf(userId), name: email, displayName: `${first_name} ${last_name}`.trim() },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_MS,
      attestation: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      excludeCredentials: await descriptorsOf(reader, userId),
    };
  };

  const add: PasskeyService['add'] = async (session, { credential, name }, origin) => {
    const { id: browser, userId } = session;
    const challenge = answeredChallenge(credential.response.clientDataJSON);
    const use = { purpose: 'registration', browser } as const;
    if (challenge === undefined || !challenges.isCurrent(challenge, use)) throw refused();
    const verified = await verifyRegistration(requireParty(party), credential, challenge);
    if (!verified) throw refused();
    const { credentialId, publicKey, counter, aaguid, synced } = verified;
    const recoveryCodes = newRecoveryCodes(random);
    return changeUser(userId, async (transaction, person): Promise<AddedPasskey> => {
      const { queries } = transaction;
      if (!(await challenges.spend(queries, challenge))) throw refused();
      if ((await countPasskeys(queries, userId)) >= MAX_PASSKEYS) throw tooMany();
      const isFirstFactor = !(await hasSecondFactor(queries, userId));
      const passkey = await insertPasskey(queries, {
        id: random.uuid(),
        user_id: userId,
        credential_id: credentialId,
        public_key: publicKey,
        counter,
        transports: (credential.response.transports ?? []).filter(isTransport).join(' '),
        name: authenticatorName(aaguid) ?? name ?? 'Passkey',
        synced,
        last_used_at: null,
        created_at: timestamp(clock),
      });
      if (isFirstFactor) {
        await replaceRecoveryCodes(queries, userId, hashRecoveryCodes(recoveryCodes));
        await switchOn(queries, userId);
      }
      // Refuses a session that ended meanwhile, too.
      const renewed = isFirstFactor ? (await endOtherSessions(queries, platform, session)).renewed : null;
      await record(transaction, portalCaller(userId, origin), 'passkey.create', passkey, {
        of: person.email,
        ...(isFirstFactor && { first_factor: true }),
      });
      return { passkey, recoveryCodes: isFirstFactor ? recoveryCodes : [], renewed };
    }).catch((error: unknown) => {
      if (uniqueViolation(error) !== 'passkeys.credential_id') throw error;
      throw taken(RESOURCE, 'credential', 'This passkey was already added');
    });
  };

  const rename: PasskeyService['rename'] = async (caller, id, name) => {
    const { userId } = caller;
    return database.write(async (transaction) => {
      const passkey = await renamePasskey(transaction.queries, userId, { id, name });
      const person = await findUserById(transaction.queries, userId);
      if (!passkey || !person) throw new NotFound();
      await record(transaction, caller, 'passkey.update', passkey, { of: person.email });
      return passkey;
    });
  };

  const remove: PasskeyService['remove'] = async (session, id, presented, origin) => {
    const { userId } = session;
    const { match, attempt } = await requireFactor(session, presented, { resource: RESOURCE, origin });
    await changeUser(userId, async (transaction, person) => {
      const { queries } = transaction;
      if (!(await factors.use(queries, match))) throw wrongFactor(RESOURCE, presented);
      const removed = await deletePasskey(queries, userId, id);
      if (!removed) throw new NotFound();
      const isLast =
        (await countPasskeys(queries, userId)) === 0 &&
        !(await findSecondFactor(queries, userId))?.confirmed_at;
      if (isLast) {
        await requireNoAccountNeedsFactor(queries, userId);
        await switchOff(queries, userId);
      }
      await record(transaction, portalCaller(userId, origin), 'passkey.delete', removed, {
        of: person.email,
        ...(isLast && { last_factor: true }),
      });
    });
    attempt.succeeded();
  };

  const record = (
    transaction: Transaction,
    caller: Caller,
    action: 'passkey.create' | 'passkey.update' | 'passkey.delete',
    { id, name }: { id: string; name: string },
    details: Record<string, string | boolean>,
  ) =>
    activity.recordForUser(
      transaction,
      caller,
      { userId: caller.userId },
      { action, subject: { id, name }, details },
    );

  function changeUser<Result>(
    userId: string,
    work: (transaction: Transaction, person: UserWithPassword) => Promise<Result>,
  ): Promise<Result> {
    return database.write(async (transaction) => {
      await lockRow(transaction, 'users', userId);
      const person = await findUserById(transaction.queries, userId);
      if (!person) throw new NotFound();
      return work(transaction, person);
    });
  }

  return {
    list: async ({ userId }) => ({
      available: party !== null,
      results: await findPasskeysOf(reader, userId),
    }),
    creationOptions,
    add,
    confirmationOptions: ({ id: browser, userId }) =>
      passkeys.options({ purpose: 'confirmation', browser }, userId),
    rename,
    remove,
  };
}

/** The transports of WebAuthn are short words. */
const isTransport = (transport: string): boolean => /^[a-z-]{1,32}$/.test(transport);

const refused = () =>
  invalidValue(RESOURCE, 'credential', 'refused', 'The passkey could not be added. Try again');

const tooMany = () =>
  new InvalidRequest(
    `You have reached the limit of ${MAX_PASSKEYS} passkeys. Remove one that you no longer need`,
  );
