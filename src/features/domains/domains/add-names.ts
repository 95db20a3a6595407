import type { Config } from '../../../config/config.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Fault } from '../../../lib/failures.ts';
import type { FaultCollection } from '../../../lib/fault-collection.ts';
import type { Platform } from '../../../platform/platform.ts';
import { publicNamesOfHosts } from '../../hosts/store.ts';
import { isHeldElsewhere, isServedByAccount } from './claims-store.ts';
import { type PlatformNames, parseDomainName } from './domain-name.ts';
import { assignNames } from './name-assignment.ts';
import { HOLD_DAYS, ownershipDomainOf } from './ownership.ts';
import { insertDomain, namesAmong } from './store.ts';
import { beginVerification } from './verifications.ts';

/** The install that gets names, and the request behind it. */
interface Receiver {
  installId: string;
  accountId: string;
  requestId: string | null;
}

/** A requested name. */
interface GivenName {
  /** Id of the new domain. */
  id: string;
  /** Its field in the request. */
  field: string;
  text: string;
}

/**
 * Creates a function that adds the valid names to an install, and collects the faults of the others by field. It returns
 * for each name whether it was added.
 */
export function createNameAdder(platform: Platform, platformNames: PlatformNames) {
  const { clock, config } = platform;

  return async (
    transaction: Transaction,
    { installId, accountId, requestId }: Receiver,
    given: readonly GivenName[],
    faults: FaultCollection,
  ): Promise<boolean[]> => {
    const { queries } = transaction;
    const hostNames = await publicNamesOfHosts(queries);
    const read = await readNames(queries, installId, given, { ...platformNames, hostNames });
    for (const [index, { id }] of given.entries()) {
      const result = read[index];
      if (result === undefined) continue;
      if ('fault' in result) faults.add(result.fault);
      else {
        const { name } = result;
        const verification = await beginVerification(
          transaction,
          platform,
          accountId,
          ownershipDomainOf(name),
        );
        const needs_proof =
          verification.verified_at === null && (await mustProve(queries, accountId, name, { clock, config }));
        const created_at = timestamp(clock);
        await insertDomain(queries, { id, install_id: installId, name, needs_proof, created_at });
        await assignNames(transaction, platform, [name], { requestId, applied: installId });
      }
    }
    return read.map((result) => 'name' in result);
  };
}

/** Whether an account must verify the domain before it serves the name. */
async function mustProve(
  queries: Queries,
  accountId: string,
  name: string,
  { clock, config }: { clock: Clock; config: Pick<Config, 'domainOwnership'> },
): Promise<boolean> {
  if (await isServedByAccount(queries, accountId, name)) return false;
  if (config.domainOwnership === 'required') return true;
  return isHeldElsewhere(queries, accountId, name, timestamp(clock, -HOLD_DAYS * DAY_MS));
}

/** Each name in its stored form, or its fault. */
async function readNames(
  queries: Queries,
  installId: string,
  given: readonly GivenName[],
  platformNames: PlatformNames,
): Promise<({ name: string } | { fault: Fault })[]> {
  const parsed = given.map(({ text }) => parseDomainName(text, platformNames));
  const names = parsed.flatMap((result) => (result.ok ? [result.name] : []));
  const present = names.length > 0 ? await namesAmong(queries, installId, names) : [];
  return parsed.map((result, index) => {
    const place = { resource: 'Domain', field: given[index]?.field ?? '' };
    if (!result.ok) return { fault: { ...place, type: 'invalid_value', ...result.fault } };
    const { name } = result;
    const isFirst = parsed.findIndex((other) => other.ok && other.name === name) === index;
    if (isFirst && !present.includes(name)) return { name };
    const message = isFirst
      ? `${name} is already a domain of this install`
      : `${name} appears twice in the request`;
    return { fault: { ...place, type: 'value_unavailable', code: 'taken', message } };
  });
}
