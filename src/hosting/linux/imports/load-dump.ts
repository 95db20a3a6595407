import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../../lib/run-command.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { IMPORT_SCRIPT_MS, requireEnd } from '../../websites/imports/import-script.ts';
import type { ImportSteps, LoadableDump } from '../../websites/imports/importable-website.ts';
import type { Databases } from '../daemons/databases.ts';
import type { LoadingUser } from '../daemons/foreign-dump.ts';
import { LOOK_EVERY_BYTES, requireFreeSpace } from '../daemons/watch-database.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** The exit status of import-sql.php for a dump that cannot be imported. */
const REFUSED = 3;
const LONGEST_REASON = 500;
/** Errors of MariaDB for texts that are not in the encoding of the connection. */
const WRONG_ENCODING = /ERROR (?:1366|1300|3854) /;

interface LoadingOptions<Result> extends ImportSteps {
  /** Changes the loaded database. */
  adapt(as: LoadingUser): Promise<Result>;
}

/**
 * Loads a foreign dump into an empty database, as a user with rights on that alone. A script in the sandbox rewrites it first, and
 * its output passes through a file of root. Rejects with a {@link RefusedImportError} if the script or the server refuses it.
 */
export async function loadForeignDump<Result>(
  {
    layout,
    databases,
    runtime,
  }: { layout: LinuxLayout; databases: Pick<Databases, 'loadForeign'>; runtime: Programs },
  install: InstallRef,
  dump: LoadableDump,
  database: string,
  { signal, report, adapt }: LoadingOptions<Result>,
): Promise<Result> {
  const file = join(layout.scratch, `import-${install.id}.sql`);
  await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
  await rm(file, { force: true });
  try {
    const bytes = await rewrite(runtime, layout, dump, file, { signal, report });
    report(bytes, bytes);
    let adapted: { result: Result } | null = null;
    let isLoaded = false;
    await databases
      .loadForeign(database, file, {
        signal,
        async adapt(as) {
          isLoaded = true;
          adapted = { result: await adapt(as) };
        },
      })
      .catch((error: unknown) => {
        throw isLoaded ? error : explainServer(error);
      });
    return resultOf(adapted);
  } finally {
    await rm(file, { force: true });
  }
}

function resultOf<Result>(adapted: { result: Result } | null): Result {
  if (adapted === null) throw new Error('loaded a dump without looking at it');
  return adapted.result;
}

/** Writes the rewritten dump to a file. Returns its bytes. */
async function rewrite(
  runtime: Programs,
  layout: LinuxLayout,
  dump: LoadableDump,
  file: string,
  { signal, report }: ImportSteps,
): Promise<number> {
  const script = 'import-sql.php';
  const output = await open(file, 'wx', 0o600);
  let done = 0;
  let checked = 0;
  try {
    const end = await runtime.runScript(
      {
        script,
        args: [dump.file, String(layout.limits.bytes ?? 0), dump.isWpress ? 'wpress' : ''],
        timeoutMs: IMPORT_SCRIPT_MS,
        mostOutput: 0,
        async take(bytes) {
          if (done >= checked) {
            await requireFreeSpace(layout.scratch);
            checked = done + LOOK_EVERY_BYTES;
          }
          await output.writeFile(bytes);
          done += bytes.length;
          report(done, null);
        },
      },
      signal,
    );
    if (end.exit === REFUSED) throw new RefusedImportError(end.stderr.trim().slice(0, LONGEST_REASON));
    requireEnd(script, end);
    return done;
  } finally {
    await output.close();
  }
}

/** The lines and the database that the server names are not those of the user's dump. */
function explainServer(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const said = error.stderr
    .trim()
    // The client repeats the statement.
    .replace(/^-{14}\n[\s\S]*\n-{14}\n+/, '')
    .replace(/ at line \d+/g, '')
    .replace(/ to user 'hp_\w+'@'localhost'/g, '')
    .replace(/`?hp_\w+`?\./g, '')
    .replace(/[.\s]*$/, '')
    .slice(0, LONGEST_REASON);
  const advice = WRONG_ENCODING.test(said)
    ? ' It has texts in another encoding than it says. Export it with --default-character-set=utf8mb4.'
    : '';
  return new RefusedImportError(`The database server refuses the dump: ${said}.${advice}`, { cause: error });
}
