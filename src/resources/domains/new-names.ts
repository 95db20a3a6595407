import type { Queries } from '../../database/database.ts';
import { type Fault, InvalidRequest } from '../../failures.ts';
import { type PlatformNames, parseDomainName } from './domain-name.ts';
import { namesAmong } from './store.ts';

/** Names as they are stored. Throws InvalidRequest with all that is wrong with them, each fault at its place. */
export async function readNames(
  queries: Queries,
  installId: string,
  given: { field: string; text: string }[],
  platformNames: PlatformNames,
): Promise<string[]> {
  const parsed = given.map(({ text }) => parseDomainName(text, platformNames));
  const names = parsed.flatMap((result) => (result.ok ? [result.name] : []));
  const present = names.length > 0 ? await namesAmong(queries, installId, names) : [];
  const faults = parsed.flatMap((result, index): Fault[] => {
    const place = { resource: 'Domain', field: given[index]?.field ?? '' };
    if (!result.ok) return [{ ...place, type: 'invalid_value', ...result.fault }];
    const { name } = result;
    const isFirst = parsed.findIndex((other) => other.ok && other.name === name) === index;
    if (isFirst && !present.includes(name)) return [];
    const message = isFirst
      ? `${name} is a domain of this install already`
      : `${name} stands twice in the request`;
    return [{ ...place, type: 'value_unavailable', code: 'taken', message }];
  });
  const [first] = faults;
  if (first) throw new InvalidRequest(first.message, faults);
  return names;
}
