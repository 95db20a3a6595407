import { hostname } from 'node:os';
import { missingParts, presentFolderId } from '../../app/embedded-websites.ts';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { findWebsitesFolder } from '../../features/hosts/websites-folder-store.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'websites';
/** So many installs are named; the rest are counted. */
const NAMED = 3;

/** Whether the embedded host has what it needs of every install: after a restore of a part, it may not. */
export async function checkWebsites(
  { reader }: Pick<Database, 'reader'>,
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
): Promise<Finding> {
  const folder = config.databaseUrl === null ? undefined : await findWebsitesFolder(reader);
  if (folder !== undefined && folder.id !== (await presentFolderId(config))) {
    return folder.machine === hostname() && folder.path === config.dataDir
      ? problem(
          CHECK,
          `${folder.path} is not the folder any more that the websites were served from.`,
          'Put its host/ back from a backup, or, if it is lost, say so: "homeport host take-over".',
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
  for (const { id, name } of installs) {
    const missing = await missingParts(config, id);
    if (missing.files) emptied.push(name);
    else if (missing.vhost) unserved.push(name);
  }
  return judgeWebsites(installs.length, { unserved, emptied });
}

/** Pure: names of installs, by what is missing of them: only what the edge serves by, or the files. */
function judgeWebsites(
  installs: number,
  { unserved, emptied }: { unserved: string[]; emptied: string[] },
): Finding {
  if (emptied.length > 0) {
    return problem(
      CHECK,
      `The files of ${named(emptied)} are not in the data folder${unserved.length === 0 ? '' : `; ${named(unserved)} can be served again`}.`,
      'Put host/ back from a backup; or begin each anew ("homeport install apply NAME") and restore a backup of it ("homeport backup list").',
    );
  }
  if (unserved.length > 0) {
    return problem(
      CHECK,
      `Not served, though the files are there: ${named(unserved)}.`,
      'For each: "homeport install apply NAME".',
    );
  }
  return ok(CHECK, installs === 1 ? '1 install is served.' : `${installs} installs are served.`);
}

function named(names: string[]): string {
  const first = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${first} and ${names.length - NAMED} more` : first;
}
