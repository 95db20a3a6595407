import { lchown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import { inDatabase, linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { runImportScript } from '../../websites/imports/import-script.ts';
import type { ImportableWebsite, LoadedDatabase } from '../../websites/imports/importable-website.ts';
import {
  createWebsiteReplacement,
  type ReplacementStep,
  type StagedWebsite as StagedFolders,
} from '../backups/website-replacement.ts';
import type { Databases } from '../daemons/databases.ts';
import type { LoadingUser } from '../daemons/foreign-dump.ts';
import { NoRoomForDatabase, watchingDatabase } from '../daemons/watch-database.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { Websites } from '../wordpress/website.ts';
import { loadForeignDump } from './load-dump.ts';

/** Stages imported websites of this host. */
export interface ImportStaging {
  /** Begins imports into an install, without the steps after its replacement. */
  of(target: HostedInstall): Omit<ImportableWebsite, 'recover' | 'serve' | 'warning'>;
  /** Completes or undoes an interrupted import. */
  recover(installId: string): Promise<void>;
}

export interface ImportStagingOptions {
  layout: LinuxLayout;
  databases: Databases;
  quotas: Pick<ProjectQuotas, 'suspend' | 'resume'>;
  websites: Pick<Websites, 'makeImportedFiles' | 'replaceUrls'>;
  /** Command prefix that enters an install's cgroup. */
  enter(installId: string): readonly string[];
  log: Logger;
  /** Called after each step of the replacement, so that tests can interrupt there. */
  reached?: ((step: ReplacementStep) => Promise<void>) | undefined;
}

const SYNC_MS = 10 * MINUTE_MS;
/** In the staging folder, for what the install downloads and unpacks. */
const WORK = 'import';
const Fetched = Type.Object({ archive: Type.String(), dump: Type.String() });

/**
 * Builds a website in the staging folder and the second database of a restore, and exchanges both as a restore does. All that reads the
 * archive runs as the install in its sandbox, where the website's own PHP runs, too.
 */
export function createImportStaging(options: ImportStagingOptions): ImportStaging {
  const { layout, databases, websites, log } = options;
  const replacement = createWebsiteReplacement(databases, options.quotas, { reached: options.reached });

  function importableOf(target: HostedInstall): Omit<ImportableWebsite, 'recover' | 'serve' | 'warning'> {
    const { ref, sandbox, database, unixUser } = target;
    const home = layout.homeOf(ref.id);
    const enter = options.enter(ref.id);
    // The private folder has the archive, and stays.
    const replaced = { database, unixUser, folders: ['htdocs'] as const, databaseLater: true };
    return {
      limits: layout.limits,
      record: () => replacement.readRecord(home),
      async stage(build, signal = new AbortController().signal) {
        try {
          const staged = await replacement.prepare(home, replaced, sandbox);
          const work = join(staged.folder, WORK);
          await mkdir(work, { mode: 0o700 });
          await lchown(work, sandbox.uid, sandbox.gid);
          const runtime = linuxRuntime(layout, sandbox, enter);
          const mostBytes = layout.limits.bytes ?? 0;
          return await build(
            {
              runtime,
              work,
              content: join(staged.folder, 'htdocs', 'wp-content'),
              see: async (file) => join(home, file),
              fetchBySsh(source, steps) {
                const input = JSON.stringify({ ...source, mostBytes });
                return runImportScript(
                  runtime,
                  { script: 'import-ssh.php', args: [work], input },
                  Fetched,
                  steps,
                );
              },
              async load(dump, { signal: limited, report }, adapt) {
                // Not earlier: this database has no limit until its size is watched.
                await replacement.prepareDatabase({ database, unixUser });
                const watched = {
                  database: staged.database,
                  mostBytes: layout.limits.bytes,
                  folder: layout.mariadb,
                  signal: limited,
                };
                const result = await watchingDatabase(databases, watched, (watching) =>
                  loadForeignDump({ layout, databases, runtime }, ref, dump, staged.database, {
                    signal: watching,
                    report,
                    adapt: (as) => adapt(loadedDatabase(target, staged, as)),
                  }),
                );
                return { result, notes: [] };
              },
              async replace(record) {
                await runCommand('/usr/bin/sync', ['--file-system', staged.folder], { timeoutMs: SYNC_MS });
                signal.throwIfAborted();
                await replacement.replace(home, { ...replaced, ...(record === null ? {} : { record }) });
              },
            },
            signal,
          );
        } catch (error) {
          await replacement.recover(home).catch((err: unknown) => {
            log.error(
              { err, install: ref.id },
              'could not undo an import; trying again at the next start of the host',
            );
          });
          throw error instanceof NoRoomForDatabase
            ? new RefusedImportError(error.message, { cause: error })
            : error;
        }
      },
    };
  }

  /** Triggers and views of the dump have no rights beyond the loaded database. */
  function loadedDatabase(
    { ref, sandbox, primaryHostname, secure, database }: HostedInstall,
    staged: StagedFolders,
    { login, query }: LoadingUser,
  ): LoadedDatabase {
    const beside: SandboxedInstall = { ...sandbox, home: staged.folder };
    return {
      query: (sql) => query(staged.database, sql),
      makeFiles: (tablePrefix) =>
        websites.makeImportedFiles(beside, { primaryHostname, secure, database, tablePrefix }),
      replaceUrls: (from, signal) =>
        websites.replaceUrls(beside, staged.database, {
          ...{ from, to: primaryHostname, scheme: secure ? 'https' : 'http' },
          login,
          signal,
        }),
      runtime: inDatabase(linuxRuntime(layout, beside, options.enter(ref.id)), staged.database, login),
    };
  }

  return {
    of: importableOf,
    recover: (installId) => replacement.recover(layout.homeOf(installId)),
  };
}
