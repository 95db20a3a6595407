import { damagedBackupsIn } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import type { Database, Queries } from '../../database/database.ts';
import { findDeleted } from '../../features/provisioning/deleted-installs/store.ts';
import { type Finding, problem } from './finding.ts';

type Damaged = Awaited<ReturnType<typeof damagedBackupsIn>>[number];

const CHECK = 'backups';
/** Installs that are named; the others are counted. */
const NAMED = 3;

/** Finds damaged backups of the embedded host, as far as their manifests and marks of earlier readings show it. */
export async function checkDamagedBackups(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'host' | 'dataDir'>,
): Promise<Finding[]> {
  if (config.host !== 'embedded') return [];
  const found = await damagedBackupsIn(config);
  const findings = await Promise.all(
    found
      .slice(0, NAMED)
      .map(async (damaged) => findingsOf(damaged, await nameOf(reader, damaged.installId))),
  );
  const others = found.length - NAMED;
  const rest = problem(
    CHECK,
    `${others === 1 ? '1 more install has' : `${others} more installs have`} damaged backups.`,
    'Fix those named here first. Doctor then names the others.',
  );
  return [...findings.flat(), ...(others > 0 ? [rest] : [])];
}

async function nameOf(queries: Queries, installId: string): Promise<string> {
  const install = await queries
    .selectFrom('installs')
    .select('name')
    .where('id', '=', installId)
    .executeTakeFirst();
  if (install !== undefined) return install.name;
  const deleted = await findDeleted(queries, installId);
  return deleted === undefined ? installId : `${deleted.name} (deleted)`;
}

function findingsOf({ unreadable, packs, fault }: Damaged, name: string): Finding[] {
  return [
    ...(fault === null
      ? []
      : [
          problem(
            CHECK,
            `The backups of ${name} cannot be read: ${fault}.`,
            'Fix that cause, or restore host/snapshots of a platform backup.',
          ),
        ]),
    ...unreadable.map(({ id, reason }) =>
      problem(
        CHECK,
        `The backup ${id} of ${name} cannot be restored: ${reason}. Until it is deleted, deleting other backups of ${name} frees no space.`,
        `Restore host/snapshots of a platform backup, or make a new backup and delete this one in the portal or with "homeport api delete-backup".`,
      ),
    ),
    ...(packs === 0
      ? []
      : [
          problem(
            CHECK,
            `${packs === 1 ? 'A file' : `${packs} files`} with contents of backups of ${name} ${packs === 1 ? 'is' : 'are'} damaged, so some of its backups may be incomplete.`,
            `Make a new backup of ${name}: it stores its contents again, which repairs earlier backups that have the same. If doctor still says this, only earlier backups have what is damaged, until they are deleted. Check the disk.`,
          ),
        ]),
  ];
}
