import { folderInventory, isOwnFolder } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { allHosts } from '../../features/hosts/store.ts';
import { allOrphans, EMBEDDED, type Orphan } from '../../features/provisioning/orphan-store.ts';
import { compareHeld } from '../../features/provisioning/reconciliation.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'orphans';
/** Number that is named; the others are counted. */
const NAMED = 3;

type Named = Pick<Orphan, 'id' | 'name' | 'is_served'>;

/** Finds orphans: installs that a host has and the database does not know, for example after restoring an older database. */
export async function checkOrphans(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'host' | 'dataDir' | 'databaseUrl'>,
): Promise<Finding[]> {
  const hosts = await allHosts(reader);
  const noted = await allOrphans(reader);
  const isFolderHere = config.host === 'embedded' && (await isOwnFolder(config, { reader }));
  const own = isFolderHere
    ? (await compareHeld(reader, folderInventory(config), EMBEDDED)).strangers.map(
        ({ id, name, digest }) => ({ id, name, is_served: digest !== null }),
      )
    : noted.filter(({ host }) => host === EMBEDDED);
  const findings = [
    ...judge(null, own),
    ...hosts.flatMap(({ id, name }) =>
      judge(
        name,
        noted.filter(({ host }) => host === id),
      ),
    ),
  ];
  return findings.length > 0
    ? findings
    : [ok(CHECK, 'There are no websites that the database does not know.')];
}

/** Findings about the orphans of one host; `host` null: this platform's own process. Pure. */
function judge(host: string | null, orphans: readonly Named[]): Finding[] {
  const where = host === null ? '' : ` on ${host}`;
  const served = orphans.filter(({ is_served }) => is_served);
  const aside = orphans.filter(({ is_served }) => !is_served);
  const adopt = `homeport host adopt${host === null ? '' : ` ${host}`}`;
  return [
    ...(served.length === 0
      ? []
      : [
          problem(
            CHECK,
            `Served${where}, though the database does not know them: ${named(served)}.`,
            `Check HOMEPORT_DATABASE_URL and HOMEPORT_DATA_DIR. If this is the right database, "${adopt}" stops serving them.`,
          ),
        ]),
    ...(aside.length === 0
      ? []
      : [
          warning(
            CHECK,
            `Not in the database, so no longer served${where}; their data is kept: ${named(aside)}.`,
            'Restore a database that knows them, or delete each for good: "homeport install orphans", "homeport install discard ID".',
          ),
        ]),
  ];
}

function named(orphans: readonly Named[]): string {
  const first = orphans
    .slice(0, NAMED)
    .map(({ id, name }) => name ?? id)
    .join(', ');
  return orphans.length > NAMED ? `${first} and ${orphans.length - NAMED} more` : first;
}
