import { hostname } from 'node:os';
import { missingParts, presentFolderId } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { findWebsitesFolder } from '../../features/hosts/websites-folder-store.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'websites';
/** Number of installs that are named; the others are counted. */
const NAMED = 3;

/** Checks that the embedded host has every install, for example after a partial restore. */
export async function checkWebsites(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
): Promise<Finding> {
  const folder = config.databaseUrl === null ? undefined : await findWebsitesFolder(reader);
  if (folder !== undefined && folder.id !== (await presentFolderId(config))) {
    return folder.machine === hostname() && folder.path === config.dataDir
      ? problem(
          CHECK,
          `Websites were last served from another folder, not ${folder.path}.`,
          'Restore its host/ from a backup. If it is lost, run "homeport host take-over".',
        )
      : ok(CHECK, `They are served from ${folder.path} on ${folder.machine}, not from here.`);
  }
  const installs = await reader
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('status', '=', 'active')
    .orderBy('name')
    .execute();
  const unserved: string[] = [];
  const emptied: string[] = [];
  const closed: string[] = [];
  for (const { id, name } of installs) {
    const missing = await missingParts(config, id);
    if (missing.files) emptied.push(name);
    else if (missing.vhost) unserved.push(name);
    else if (missing.data.length > 0) closed.push(`${name} (${missing.data.join(' ')})`);
  }
  return judgeWebsites(installs.length, { unserved, emptied, closed });
}

/** Formats installs without a vhost, without files, and without other data. Pure. */
function judgeWebsites(
  installs: number,
  { unserved, emptied, closed }: { unserved: string[]; emptied: string[]; closed: string[] },
): Finding {
  if (emptied.length > 0) {
    return problem(
      CHECK,
      `The files of ${named(emptied)} are not in the data folder${unserved.length === 0 ? '' : `; ${named(unserved)} can be served again`}.`,
      'Restore each from a backup of the platform: "homeport platform restore --install NAME". Or restore a backup of each: "homeport backup list", then "homeport backup restore ID".',
    );
  }
  if (closed.length > 0) {
    return problem(
      CHECK,
      `Closed to visitors, because data is missing: ${named(closed)}.`,
      'Restore a backup of each: "homeport backup list --install NAME", then "homeport backup restore ID". Without one: "homeport platform restore --install NAME".',
    );
  }
  if (unserved.length > 0) {
    return problem(
      CHECK,
      `Not served, although the files exist: ${named(unserved)}.`,
      'Run "homeport install apply NAME" for each.',
    );
  }
  return ok(CHECK, installs === 1 ? '1 install is served.' : `${installs} installs are served.`);
}

function named(names: string[]): string {
  const first = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${first} and ${names.length - NAMED} more` : first;
}
