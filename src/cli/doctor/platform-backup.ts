import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { backupRecord } from '../../platform-backup/runs-store.ts';
import { shownTime } from '../terminal/output.ts';
import { type Finding, ok, reasonOf, warning } from './finding.ts';

const CHECK = 'platform backup';
/** A day, and time for the backup itself. */
const RECENT_MS = 26 * HOUR_MS;

/** Whether the platform itself was backed up in the last 26 hours. */
export async function checkPlatformBackup(
  { reader }: Pick<Database, 'reader'>,
  { platformBackup }: Pick<Config, 'platformBackup'>,
  clock: Clock,
): Promise<Finding> {
  const { last, failuresSince, lastError } = await backupRecord(reader);
  const configure =
    platformBackup === null
      ? 'Set HOMEPORT_PLATFORM_BACKUP to a folder on another disk, or to a bucket. Until then, run "homeport platform backup create FOLDER".'
      : 'Read the server log and try "homeport platform backup create". A running server makes one every day.';
  if (last === null || last.finishedAt < timestamp(clock, -RECENT_MS)) {
    const latest =
      last === null ? 'There is no backup yet' : `The last one is of ${shownTime(last.finishedAt, '')}`;
    const failed = lastError === null ? '' : `; ${failuresSince} failed since: ${reasonOf(lastError)}`;
    return warning(CHECK, `${latest}${failed}.`, configure);
  }
  if (last.missingWebsites > 0) {
    return warning(
      CHECK,
      `The files of ${last.missingWebsites === 1 ? '1 website' : `${last.missingWebsites} websites`} are not in the last one, ${last.name}.`,
      'Its manifest.json names them and the reasons ("missing").',
    );
  }
  return ok(CHECK, `The last one is of ${shownTime(last.finishedAt, '')}, in ${last.destination}.`);
}
