import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { lastFetches } from '../../features/updates/fetch-store.ts';
import { allRollouts } from '../../features/updates/rollout-store.ts';
import { branchOf, compareVersions } from '../../hosting/policy/wordpress-version.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { shownTime } from '../terminal/output.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'WordPress releases';
/** They are fetched once a day. */
const RECENT_MS = 2 * DAY_MS;

/** Whether hosts fetch new releases of WordPress, and whether their rollouts continue. */
export async function checkWordPressReleases(
  { reader }: Pick<Database, 'reader'>,
  { host, wordpressFetch }: Pick<Config, 'host' | 'wordpressFetch'>,
  clock: Clock,
): Promise<Finding[]> {
  if (host !== 'linux') return [];
  const known = await allRollouts(reader);
  // A later release of the branch takes its place, so no one needs to resume it.
  const isReplaced = ({ version }: { version: string }) =>
    known.some(
      (other) => branchOf(other.version) === branchOf(version) && compareVersions(other.version, version) > 0,
    );
  const stopped = known.filter((rollout) => rollout.stopped_at !== null && !isReplaced(rollout));
  const rollouts = stopped.map(({ version, reason }) =>
    problem(
      CHECK,
      `The rollout of WordPress ${version} was stopped. ${reason ?? ''}`.trim(),
      `Look at the failed operations of these installs. "homeport rollout resume ${version}" continues it.`,
    ),
  );
  if (!wordpressFetch) {
    return [
      ok(CHECK, 'Hosts fetch releases only by "homeport host wordpress" (HOMEPORT_WORDPRESS_FETCH=false).'),
      ...rollouts,
    ];
  }
  const fetches = await lastFetches(reader);
  const old = timestamp(clock, -RECENT_MS);
  const faults = fetches.flatMap(({ name, fetched_at, reason }) => {
    if (reason !== null) {
      return [
        warning(
          CHECK,
          `${name} could not fetch all releases of WordPress: ${reason}.`,
          'Check HOMEPORT_WORDPRESS_SOURCE, HOMEPORT_WORDPRESS_URL and HOMEPORT_WORDPRESS_RELEASES_URL on that machine. It tries again every day.',
        ),
      ];
    }
    if (fetched_at >= old) return [];
    return [
      warning(
        CHECK,
        `${name} last fetched releases of WordPress at ${shownTime(fetched_at, '')}.`,
        'Check that "homeport serve" runs and that the host answers.',
      ),
    ];
  });
  const findings = [...faults, ...rollouts];
  if (findings.length > 0) return findings;
  const [first] = fetches;
  return [
    ok(
      CHECK,
      first === undefined
        ? 'Hosts fetch new releases every day; the first time follows.'
        : 'Hosts fetch new releases every day.',
    ),
  ];
}
