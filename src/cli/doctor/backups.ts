import type { Config } from '../../config/config.ts';
import type { Database, Queries } from '../../database/database.ts';
import { installsWithoutRecentBackup } from '../../features/backups/daily-backups.ts';
import { missingByInstall } from '../../features/backups/missing-store.ts';
import { lateInstalls } from '../../features/backups/recovery-points/ages-store.ts';
import { lateMs } from '../../features/backups/recovery-points/rules.ts';
import { areRecoveryPointsMade } from '../../features/backups/recovery-points/schedule.ts';
import { lastRestoreCheck, unrestorable } from '../../features/backups/restore-check-store.ts';
import { missingOfDeleted } from '../../features/provisioning/deleted-installs/kept-backups.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'backups';
const RESTORES = 'restore checks';
const POINTS = 'recovery points';
/** Number of installs that are named; the others are counted. */
const NAMED = 3;

/** Checks daily backups and test restores. Finds nothing if daily backups are off. */
export async function checkBackups(
  { reader }: Pick<Database, 'reader'>,
  { host, backupDays }: Pick<Config, 'host' | 'backupDays'>,
  clock: Clock,
): Promise<Finding[]> {
  const missing = await judgeMissing(reader, host);
  if (host !== 'linux') return missing;
  if (backupDays === 0) {
    return [
      ...missing,
      warning(
        CHECK,
        'Daily backups are off.',
        'Set HOMEPORT_BACKUP_DAYS to the number of days to keep them.',
      ),
    ];
  }
  return [...missing, await judgeBackups(reader, clock), await judgeRestores(reader)];
}

/** Finds nothing if all listed backups were there at the last comparison. */
async function judgeMissing(queries: Queries, host: Config['host']): Promise<Finding[]> {
  const installs = [...(await missingByInstall(queries)), ...(await missingOfDeleted(queries))];
  if (installs.length === 0) return [];
  const backups = installs.reduce((sum, one) => sum + one.backups, 0);
  const what = backups === 1 ? '1 backup' : `${backups} backups`;
  return [
    problem(
      CHECK,
      `${what} of ${namedInstalls(installs.map(({ name }) => name))} ${backups === 1 ? 'is' : 'are'} missing from the backup storage.`,
      host === 'linux'
        ? 'Check that the storage in HOMEPORT_BACKUP_REPOSITORY of the host is complete: "homeport doctor --host" compares it. ' +
            'Backups in an earlier place come back with "homeport host backups move --from <place>".'
        : 'Put the files back into host/snapshots in the data folder, or make new backups and delete the missing ones. "homeport platform restore --install NAME" brings them back, and replaces the website by its copy in the platform backup, too.',
    ),
  ];
}

function namedInstalls(names: string[]): string {
  const named = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${named} and ${names.length - NAMED} more` : named;
}

async function judgeBackups(queries: Queries, clock: Clock): Promise<Finding> {
  const names = await installsWithoutRecentBackup(queries, clock);
  if (names.length === 0) return ok(CHECK, 'Every install has a backup of the last two days.');
  return warning(
    CHECK,
    `${names.length === 1 ? '1 install has' : `${names.length} installs have`} no backup of the last two days: ${namedInstalls(names)}.`,
    'Find the reason with "homeport backup list" and in the server log. A running server retries every night.',
  );
}

async function judgeRestores(queries: Queries): Promise<Finding> {
  const [failed, last] = await Promise.all([unrestorable(queries), lastRestoreCheck(queries)]);
  const [first] = failed;
  if (first !== undefined) {
    return problem(
      RESTORES,
      `${failed.length === 1 ? 'A backup' : `Backups of ${failed.length} installs`} failed the test restore; ` +
        `${first.install_name} on ${first.created_at.slice(0, 10)}: ${reasonOf(first.reason)}.`,
      'Fix the cause; the logs of the server and of the host have the details. Make a new backup meanwhile.',
    );
  }
  if (last === undefined) return ok(RESTORES, 'None yet. One backup a day is restored as a test.');
  return ok(
    RESTORES,
    `The last one, of ${last.install_name} on ${last.created_at.slice(0, 10)}, took ${(last.took_ms / 1000).toFixed(1)} s.`,
  );
}

/** Checks that installs are covered by recovery points. Finds nothing if none are made. */
export async function checkRecoveryPoints(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'host' | 'recoveryPointMinutes'>,
  clock: Clock,
): Promise<Finding[]> {
  const { host, recoveryPointMinutes: minutes } = config;
  if (!areRecoveryPointsMade(config)) {
    if (host === 'linux' || minutes === 0) return [];
    return [
      warning(
        POINTS,
        'HOMEPORT_RECOVERY_POINT_MINUTES is set, and this kind of host makes no recovery points.',
        'Remove the setting, or use Linux hosts.',
      ),
    ];
  }
  const late = await lateInstalls(reader, timestamp(clock, -lateMs(minutes)));
  if (late.length === 0)
    return [ok(POINTS, `Every install is covered until less than ${2 * minutes} minutes ago.`)];
  const reason = late.find((one) => one.reason !== null)?.reason;
  return [
    warning(
      POINTS,
      `${late.length === 1 ? '1 install has' : `${late.length} installs have`} changes of more than ${2 * minutes} minutes ago that no recovery point has: ` +
        `${namedInstalls(late.map(({ name }) => name))}${reason == null ? '' : ` (${reasonOf(reason)})`}.`,
      'A running server retries every minute. If there are ever more, the machines or the place of the backups are too slow: raise HOMEPORT_WORKERS, or HOMEPORT_RECOVERY_POINT_MINUTES.',
    ),
  ];
}
