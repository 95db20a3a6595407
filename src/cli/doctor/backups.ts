import type { Config } from '../../config/config.ts';
import type { Database, Queries } from '../../database/database.ts';
import { installsWithoutRecentBackup } from '../../features/backups/daily-backups.ts';
import { lastRestoreCheck, unrestorable } from '../../features/backups/restore-check-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'backups';
const RESTORES = 'restore checks';
/** So many installs are named; the rest are counted. */
const NAMED = 3;

/** Whether installs are backed up, and whether what was restored on trial could be. Nothing where no backups are made daily. */
export async function checkBackups(
  { reader }: Pick<Database, 'reader'>,
  { host, backupDays }: Pick<Config, 'host' | 'backupDays'>,
  clock: Clock,
): Promise<Finding[]> {
  if (host !== 'linux') return [];
  if (backupDays === 0) {
    return [
      warning(
        CHECK,
        'No daily backups are made.',
        'Set HOMEPORT_BACKUP_DAYS to how long they should be kept.',
      ),
    ];
  }
  return [await judgeBackups(reader, clock), await judgeRestores(reader)];
}

async function judgeBackups(queries: Queries, clock: Clock): Promise<Finding> {
  const names = await installsWithoutRecentBackup(queries, clock);
  if (names.length === 0) return ok(CHECK, 'Every install has one of the last two days.');
  const named = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return warning(
    CHECK,
    `${names.length === 1 ? '1 install has' : `${names.length} installs have`} none of the last two days: ${named}${more}.`,
    'Look why ("homeport backup list", the log of the server); they are tried again every night while a server runs.',
  );
}

async function judgeRestores(queries: Queries): Promise<Finding> {
  const [failed, last] = await Promise.all([unrestorable(queries), lastRestoreCheck(queries)]);
  const [first] = failed;
  if (first !== undefined) {
    return problem(
      RESTORES,
      `${failed.length === 1 ? 'A backup' : `Backups of ${failed.length} installs`} could not be restored on trial; ` +
        `${first.install_name} on ${first.created_at.slice(0, 10)}: ${reasonOf(first.reason)}.`,
      'Mend what the sentence names; the log of the server and of the host have the details. Ask for a new backup meanwhile.',
    );
  }
  if (last === undefined) return ok(RESTORES, 'None yet; a backup is restored on trial every day.');
  return ok(
    RESTORES,
    `The last one, of ${last.install_name} on ${last.created_at.slice(0, 10)}, took ${(last.took_ms / 1000).toFixed(1)} s.`,
  );
}
