import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { PROGRAM_VERSION } from '../../lib/program-version.ts';
import { newerRelease } from '../../releases/newer-release.ts';
import { findReleaseCheck } from '../../releases/release-check-store.ts';
import { shownTime } from '../terminal/output.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'releases';

/** Whether a newer Homeport is known, as a running server saw last. Asks no one. */
export async function checkReleases(
  { reader }: Pick<Database, 'reader'>,
  { releasesUrl, updateCheck }: Pick<Config, 'releasesUrl' | 'updateCheck'>,
  version: string = PROGRAM_VERSION,
): Promise<Finding[]> {
  if (updateCheck === 'off') {
    return [ok(CHECK, 'No one looks for new releases (HOMEPORT_UPDATE_CHECK=off).')];
  }
  if (releasesUrl === null) {
    return [ok(CHECK, 'No one looks for new releases, because HOMEPORT_RELEASES_URL is not set.')];
  }
  const last = await findReleaseCheck(reader);
  if (last === undefined) {
    return [ok(CHECK, 'A running server looks for new releases once a day; the first time follows.')];
  }
  const newer = newerRelease(last.releases, version);
  const looked = `Last look: ${shownTime(last.checked_at, '')}`;
  const failed =
    last.reason === null
      ? []
      : [
          warning(
            CHECK,
            `The list of releases could not be read: ${last.reason}. ${looked}.`,
            'Check HOMEPORT_RELEASES_URL and the way to it, or set HOMEPORT_UPDATE_CHECK=off. The server tries again every day.',
          ),
        ];
  if (newer === null) return failed.length > 0 ? failed : [ok(CHECK, `${version} is the newest. ${looked}.`)];
  const remedy = `Read ${newer.notes}, then run "homeport upgrade", which backs up first.`;
  return [
    ...failed,
    newer.security
      ? problem(
          CHECK,
          `Homeport ${newer.version} of ${newer.date} fixes a vulnerability; this is ${version}.`,
          remedy,
        )
      : warning(
          CHECK,
          `Homeport ${newer.version} of ${newer.date} is available; this is ${version}.`,
          remedy,
        ),
  ];
}
