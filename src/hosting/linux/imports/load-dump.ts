import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../../lib/run-command.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { Databases } from '../daemons/databases.ts';
import type { LoadingUser } from '../daemons/foreign-dump.ts';
import { LOOK_EVERY_BYTES, requireFreeSpace } from '../daemons/watch-database.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { explainScript, type ImportScript, startImportScript } from './import-script.ts';

/** The exit status of import-sql.php for a dump that cannot be imported. */
const REFUSED = 3;
const LONGEST_REASON = 500;
/** Errors of MariaDB for texts that are not in the encoding of the connection. */
const WRONG_ENCODING = /ERROR (?:1366|1300|3854) /;

/**
 * Loads a foreign dump into an empty database, as a user with rights on that alone. A script in the sandbox rewrites it first, and
 * its output passes through a file of root. Rejects with a {@link RefusedImportError} if the script or the server refuses it.
 */
export async function loadForeignDump(
  { layout, databases }: { layout: LinuxLayout; databases: Pick<Databases, 'loadForeign'> },
  install: SandboxedInstall,
  dump: { file: string; isWpress: boolean },
  database: string,
  {
    enter,
    signal,
    report,
    adapt,
  }: Pick<ImportScript, 'enter' | 'signal'> & {
    report(done: number, total: number | null): void;
    /** Changes the loaded database. */
    adapt(as: LoadingUser): Promise<void>;
  },
): Promise<void> {
  const file = join(layout.scratch, `import-${install.id}.sql`);
  await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
  await rm(file, { force: true });
  try {
    const bytes = await rewrite(layout, install, file, {
      name: 'import-sql.php',
      args: [dump.file, String(layout.limits.bytes ?? 0), dump.isWpress ? 'wpress' : ''],
      enter,
      signal,
      report: (done) => report(done, null),
    });
    report(bytes, bytes);
    let isLoaded = false;
    await databases
      .loadForeign(database, file, {
        signal,
        adapt(as) {
          isLoaded = true;
          return adapt(as);
        },
      })
      .catch((error: unknown) => {
        throw isLoaded ? error : explainServer(error);
      });
  } finally {
    await rm(file, { force: true });
  }
}

async function rewrite(
  layout: LinuxLayout,
  install: SandboxedInstall,
  file: string,
  { report, ...script }: ImportScript & { report(done: number): void },
): Promise<number> {
  const { signal } = script;
  signal?.throwIfAborted();
  const output = await open(file, 'wx', 0o600);
  const program = startImportScript(layout, install, script);
  const stop = () => void program.stop();
  signal?.addEventListener('abort', stop);
  program.stdin.end();
  let done = 0;
  let checked = 0;
  try {
    for await (const chunk of program.stdout) {
      const bytes = Buffer.from(chunk);
      if (done >= checked) {
        await requireFreeSpace(layout.scratch);
        checked = done + LOOK_EVERY_BYTES;
      }
      await output.writeFile(bytes);
      done += bytes.length;
      report(done);
    }
    await program.ended;
    return done;
  } catch (error) {
    await program.stop();
    signal?.throwIfAborted();
    if (error instanceof CommandError && error.status === REFUSED) {
      throw new RefusedImportError(error.stderr.trim().slice(0, LONGEST_REASON), { cause: error });
    }
    throw explainScript(error, install, script.name);
  } finally {
    signal?.removeEventListener('abort', stop);
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
