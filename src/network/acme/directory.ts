import type { Clock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { getDomain } from '../../lib/public-suffixes.ts';
import type { AcmeSession } from './session.ts';
import { type Directory, directorySchema, parsed } from './wire.ts';

/** Reads the authority's directory (RFC 8555 section 7.1.1), at most once a day. */
export type ReadDirectory = (session: AcmeSession) => Promise<Directory>;

export function createDirectoryReader(directoryUrl: string, clock: Clock): ReadDirectory {
  let kept: { directory: Directory; until: number } | undefined;

  return async ({ acme, within }) => {
    if (kept !== undefined && clock.now().getTime() < kept.until) return kept.directory;
    const { data } = await within(acme.axios.get<unknown>(directoryUrl));
    const directory = parsed(directorySchema, data, 'a directory');
    kept = { directory, until: clock.now().getTime() + DAY_MS };
    return directory;
  };
}

/** The issuer domain names of the authority in CAA records; the directory's own domain if it lists none. */
export function identitiesOf(directory: Directory, directoryUrl: string): string[] {
  const named = directory.meta?.caaIdentities ?? [];
  if (named.length > 0) return named;
  const { hostname } = new URL(directoryUrl);
  return [getDomain(hostname) ?? hostname];
}
