import type { Queries, Transaction } from '../../../database/database.ts';
import { lockHostNames } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import { assignNames } from './name-assignment.ts';
import { challengeOf, matchesChallenge, ownershipDomainOf } from './ownership.ts';
import type { DomainRow } from './store.ts';
import {
  completedVerifications,
  deleteVerification,
  findVerification,
  insertVerification,
  namesWithin,
  setNextCheck,
  setVerified,
  type Verification,
  verificationsOf,
} from './verifications-store.ts';

const TOKEN_BYTES = 24;
const SOONEST_MS = 2 * MINUTE_MS;
/** The wait until the next check is the verification's age divided by this, at most a day. */
const PART_OF_AGE = 8;

/** Begins the verification of a registrable domain by an account, unless it exists. Returns it. */
export async function beginVerification(
  { queries }: Transaction,
  { clock, random }: Pick<Platform, 'clock' | 'random'>,
  account_id: string,
  registrable: string,
): Promise<Verification> {
  await insertVerification(queries, {
    account_id,
    registrable,
    token: random.bytes(TOKEN_BYTES).toString('base64url'),
    created_at: timestamp(clock),
    next_look_at: timestamp(clock, SOONEST_MS),
  });
  const verification = await findVerification(queries, account_id, registrable);
  if (!verification) throw new Error(`the verification of ${registrable} was not stored`);
  return verification;
}

/** The TXT records that must verify domains of an install before they are served, by domain id. */
export async function challengesOf(
  queries: Queries,
  installId: string,
  domains: readonly Pick<DomainRow, 'id' | 'name' | 'needs_proof'>[],
): Promise<Map<string, { key: string; value: string }>> {
  const withheld = domains.filter(({ needs_proof }) => needs_proof);
  const install = await findWebsite(queries, { id: installId });
  if (withheld.length === 0 || !install) return new Map();
  const registrables = withheld.map(({ name }) => ownershipDomainOf(name));
  const verifications = await verificationsOf(queries, install.account_id, registrables);
  return new Map(
    withheld.flatMap(({ id, name }) => {
      const verification = verifications.get(ownershipDomainOf(name));
      return verification === undefined
        ? []
        : [[id, challengeOf(verification.registrable, verification.token)]];
    }),
  );
}

/**
 * Completes or postpones a verification by the TXT records of its challenge; `texts` is null if the look-up failed. Without
 * its record, a completed verification lasts until another account verifies the domain. Takes the lock of host names.
 */
export async function concludeCheck(
  transaction: Transaction,
  platform: Pick<Platform, 'queue' | 'activity' | 'clock'>,
  { account_id, registrable }: Pick<Verification, 'account_id' | 'registrable'>,
  texts: readonly string[] | null,
  doer: Actor,
): Promise<void> {
  const { queries } = transaction;
  const { clock } = platform;
  await lockHostNames(transaction);
  const verification = await findVerification(queries, account_id, registrable);
  if (!verification || verification.verified_at !== null) return;
  const names = await namesWithin(queries, account_id, registrable);
  if (names.length === 0) {
    await deleteVerification(queries, verification);
    return;
  }
  if (texts === null || !matchesChallenge(texts, registrable, verification.token)) {
    await setNextCheck(queries, verification, timestamp(clock, untilNextCheck(verification, clock.now())));
    return;
  }
  for (const former of await completedVerifications(queries, registrable)) {
    if (matchesChallenge(texts, registrable, former.token)) continue;
    await setVerified(queries, former, { verified_at: null, next_look_at: timestamp(clock, DAY_MS) });
  }
  await setVerified(queries, verification, { verified_at: timestamp(clock), next_look_at: null });
  await platform.activity.record(transaction, doer, account_id, {
    action: 'domain.verify',
    subject: { id: null, name: registrable },
  });
  await assignNames(transaction, platform, names, { requestId: doer.origin.requestId });
}

function untilNextCheck({ created_at }: Verification, now: Date): number {
  const ageMs = now.getTime() - Date.parse(created_at);
  return Math.min(DAY_MS, Math.max(SOONEST_MS, ageMs / PART_OF_AGE));
}
