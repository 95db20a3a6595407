import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { isFullDisk } from '../../../lib/full-disk.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { RefusedRestoreError } from '../../contract/errors.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { requireSeparable } from '../../websites/backup-contents/separable-tables.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { copyLiveDatabase } from './database-copy.ts';
import { DATABASE } from './site.ts';

/** Beside the database of a website: the one of a backup (database-tables.php). */
const RESTORED = 'restored.sqlite';
const ENDINGS = ['', '-journal', '-wal', '-shm'];
const WITHIN_MS = 30 * MINUTE_MS;
/** Names of a million tables. */
const MOST_OUTPUT = 64 * 1024 * 1024;

const Listed = Type.Array(Type.Object({ name: Type.String(), rows: Type.Integer() }));
const Described = Type.Object({
  tables: Type.Array(Type.String()),
  keys: Type.Array(Type.Array(Type.String())),
});
const Printed = Type.Object({
  result: Type.Optional(Type.Unknown()),
  refused: Type.Optional(Type.String()),
});
const Surveyed = Type.Object({ from: Described, to: Described });

/** Lists the tables of the database that `programs` run on. Rejects with a RefusedRestoreError if SQLite cannot read it. */
export const listTables = (programs: Programs, signal?: AbortSignal): Promise<Static<typeof Listed>> =>
  tablesScript(programs, { args: ['list'] }, Listed, signal);

interface TableMerge {
  /** The database of the backup, in the folder that `programs` see. It gets the other tables of the present one. */
  folder: string;
  /** The file of the present database. */
  present: string;
  programs: Programs;
  tables: readonly string[];
  /** Whether tables that the backup lacks are dropped; otherwise they are refused. */
  dropAbsent: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Makes a copy of the present database in which chosen tables are those of a backup. SQLite does it in the website's PHP, because both
 * databases are files of tenants. Rejects with a RefusedRestoreError if the tables cannot be replaced alone.
 */
export async function mergeTables(merge: TableMerge): Promise<void> {
  const { folder, present, programs, tables, dropAbsent, signal } = merge;
  const [database, restored] = [join(folder, DATABASE), join(folder, RESTORED)];
  // Code of the website may have put links there, which would lead to the database of another one.
  for (const plain of [dirname(folder), folder]) await requirePlainFolder(plain);
  for (const end of ENDINGS) await ifThere(rename(database + end, restored + end));
  try {
    await copyLiveDatabase(present, database, { signal });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new RefusedRestoreError(
      'The website has no database, so single tables cannot be restored. Restore the whole database.',
      { cause: error },
    );
  }
  const surveyed = await tablesScript(programs, { args: ['survey'] }, Surveyed, signal);
  requireSeparable(tables, surveyed, dropAbsent);
  const input = JSON.stringify(tables);
  await tablesScript(programs, { args: ['replace'], input }, Type.Integer(), signal);
  for (const end of ENDINGS) await rm(restored + end, { force: true });
}

async function tablesScript<Schema extends TSchema>(
  programs: Programs,
  run: { args: readonly string[]; input?: string },
  result: Schema,
  signal: AbortSignal | undefined,
): Promise<Static<Schema>> {
  const script = 'database-tables.php';
  const limits = { timeoutMs: WITHIN_MS, mostOutput: MOST_OUTPUT, network: false };
  const { exit, stdout, stderr } = await programs.runScript({ script, ...run, ...limits }, signal);
  const printed = exit === 0 ? parsePrinted(Printed, stdout) : null;
  if (printed !== null && Value.Check(result, printed.result)) return printed.result;
  const reason = printed?.refused ?? failureSentence(stderr || stdout);
  if (isFullDisk(new Error(reason))) throw new Error(`${script} failed: ${reason}`);
  throw new RefusedRestoreError(`The tables of the database cannot be read: ${reason}.`);
}
