import { type Clock, timestamp } from '../../clock.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import type { Fault } from '../../failures.ts';
import type { FaultCollection } from '../../fault-collection.ts';
import { type PlatformNames, parseDomainName } from './domain-name.ts';
import { insertDomain, namesAmong } from './store.ts';

/** A name as it was given for an install. */
interface GivenName {
  /** Of the domain that it becomes. */
  id: string;
  /** Where in the request it stands. */
  field: string;
  text: string;
}

/**
 * Adds those of some names that an install can have, and keeps what is wrong with the others, each fault at its place. Returns of
 * each whether it was added.
 */
export function createNewNames({ clock, platformNames }: { clock: Clock; platformNames: PlatformNames }) {
  return async (
    transaction: Transaction,
    installId: string,
    given: readonly GivenName[],
    faults: FaultCollection,
  ): Promise<boolean[]> => {
    const read = await readNames(transaction.queries, installId, given, platformNames);
    for (const [index, { id }] of given.entries()) {
      const result = read[index];
      if (result === undefined) continue;
      if ('fault' in result) faults.add(result.fault);
      else {
        const created_at = timestamp(clock);
        await insertDomain(transaction, { id, install_id: installId, name: result.name, created_at });
      }
    }
    return read.map((result) => 'name' in result);
  };
}

/** Each name as it is stored, or what is wrong with it. */
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
      ? `${name} is a domain of this install already`
      : `${name} stands twice in the request`;
    return { fault: { ...place, type: 'value_unavailable', code: 'taken', message } };
  });
}
