import { lchown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { ImportedWebsite, ImportOptions, ImportSource } from '../../contract/imports.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { bareRun, runWhole } from '../../runtime/linux/run-php.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import {
  createWebsiteReplacement,
  type ReplacementStep,
  type StagedWebsite,
} from '../backups/website-replacement.ts';
import type { Databases } from '../daemons/databases.ts';
import type { LoadingUser } from '../daemons/foreign-dump.ts';
import { NoRoomForDatabase, watchingDatabase } from '../daemons/watch-database.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { Websites } from '../wordpress/website.ts';
import { runImportScript } from './import-script.ts';
import { findWordPress, type ImportedDatabase } from './imported-database.ts';
import { loadForeignDump } from './load-dump.ts';

interface ImportCall extends ImportOptions {
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
}

/** Imports existing websites, in place of the present ones. The caller renews caches and checks the website. */
export interface LinuxImports {
  import(target: HostedInstall, source: ImportSource, options: ImportCall): Promise<ImportedWebsite>;
  /** The import that made the present website, if it had an id and no other replacement came after. */
  last(installId: string): Promise<{ importId: string; website: ImportedWebsite } | null>;
  /** Completes or undoes an interrupted import. */
  recover(installId: string): Promise<void>;
}

export interface ImportsOptions {
  layout: LinuxLayout;
  databases: Databases;
  quotas: Pick<ProjectQuotas, 'suspend' | 'resume'>;
  websites: Pick<Websites, 'makeImportedFiles' | 'replaceUrls'>;
  /** Command prefix that enters an install's cgroup. */
  enter(installId: string): readonly string[];
  log: Logger;
  /** php.ini settings of a download: tests trust their own certificate. */
  downloadSettings?: Readonly<Record<string, string>>;
  /** Called after each step of the replacement, so that tests can interrupt there. */
  reached?: ((step: ReplacementStep) => Promise<void>) | undefined;
}

const SYNC_MS = 10 * MINUTE_MS;
const UPGRADE_MS = 30 * MINUTE_MS;
/** In the staging folder, for what the install downloads and unpacks. */
const WORK = 'import';
const MOST_NOTES = 10;
const LONGEST_NOTE = 500;

const Unpacked = Type.Object({
  dump: Type.String(),
  tablePrefix: Type.Union([Type.String(), Type.Null()]),
  /** Whether All-in-One WP Migration made the archive. */
  isWpress: Type.Boolean(),
  files: Type.Integer(),
  bytes: Type.Integer(),
  notes: Type.Array(Type.String()),
});
const Imported = Type.Object({
  importId: Type.String(),
  website: Type.Object({
    tablePrefix: Type.String(),
    files: Type.Integer(),
    bytes: Type.Integer(),
    // Records of earlier versions lack them.
    notes: Type.Optional(Type.Array(Type.String())),
  }),
});
const Downloaded = Type.Object({ bytes: Type.Integer() });
const Fetched = Type.Object({ archive: Type.String(), dump: Type.String() });

/**
 * Builds the imported website beside the present one, as a restore does, and then replaces that. All that reads the archive runs as
 * the install in its sandbox.
 */
export function createWebsiteImports(options: ImportsOptions): LinuxImports {
  const { layout, databases, websites, log, downloadSettings = {} } = options;
  const replacement = createWebsiteReplacement(databases, options.quotas, { reached: options.reached });

  async function importWebsite(
    target: HostedInstall,
    source: ImportSource,
    given: ImportCall,
  ): Promise<ImportedWebsite> {
    const { ref, sandbox, database, unixUser } = target;
    const { signal } = given;
    const home = layout.homeOf(ref.id);
    // The private folder has the archive, and stays.
    const replaced = { database, unixUser, folders: ['htdocs'] as const, databaseLater: true };
    try {
      const staged = await replacement.prepare(home, replaced, sandbox);
      const imported = await build(target, source, staged, given);
      await runCommand('/usr/bin/sync', ['--file-system', staged.folder], { timeoutMs: SYNC_MS });
      signal?.throwIfAborted();
      const { importId = null } = given;
      const record = importId === null ? {} : { record: JSON.stringify({ importId, website: imported }) };
      await replacement.replace(home, { ...replaced, ...record });
      return imported;
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
  }

  async function build(
    target: HostedInstall,
    source: ImportSource,
    staged: StagedWebsite,
    { signal, report = () => {} }: ImportCall,
  ): Promise<ImportedWebsite> {
    const { ref, sandbox } = target;
    const enter = options.enter(ref.id);
    const work = join(staged.folder, WORK);
    await mkdir(work, { mode: 0o700 });
    await lchown(work, sandbox.uid, sandbox.gid);

    const fetched = await fetchSource(source, sandbox, { work, enter, signal, report });
    const {
      dump,
      tablePrefix: configured,
      isWpress,
      files,
      bytes,
      notes,
    } = await runImportScript(
      layout,
      sandbox,
      {
        name: 'import-unpack.php',
        args: [
          fetched.archive,
          join(work, 'tree'),
          join(staged.folder, 'htdocs', 'wp-content'),
          ...limitsOf(layout),
          'ssh' in source ? '' : (source.site ?? ''),
          ...(fetched.dump === undefined ? [] : [fetched.dump]),
        ],
        enter,
        signal,
      },
      Unpacked,
      (done, total) => report(done, total, 'unpack'),
    );
    // Not earlier: this database has no limit until its size is watched.
    await replacement.prepareDatabase({ database: target.database, unixUser: target.unixUser });
    const watched = {
      database: staged.database,
      mostBytes: layout.limits.bytes,
      folder: layout.mariadb,
      signal,
    };
    const { tablePrefix, hosts } = await watchingDatabase(databases, watched, (watching) =>
      buildDatabase(target, { file: dump, isWpress }, configured, staged, { signal: watching, report }),
    );
    const shown = notes.slice(0, MOST_NOTES).map((note) => note.slice(0, LONGEST_NOTE));
    log.info(
      { install: ref.id, files, bytes, tablePrefix, hosts, notes: shown },
      `imported a website into ${ref.name}`,
    );
    return { tablePrefix, files, bytes, notes: shown };
  }

  /** Fills the second database from the dump, for the address and the core of the install. */
  async function buildDatabase(
    target: HostedInstall,
    dump: { file: string; isWpress: boolean },
    configured: string | null,
    staged: StagedWebsite,
    { signal, report }: { signal: AbortSignal; report: ReportProgress },
  ): Promise<ImportedDatabase> {
    const { ref, sandbox } = target;
    const found: { database: ImportedDatabase | null } = { database: null };
    await loadForeignDump({ layout, databases }, sandbox, dump, staged.database, {
      enter: options.enter(ref.id),
      signal,
      report: (done, total) => report(done, total, 'database'),
      async adapt(as) {
        found.database = await findWordPress(as, staged.database, configured);
        report(0, null, 'urls');
        await adaptDatabase(target, staged, found.database, as, signal);
      },
    });
    if (found.database === null) throw new Error('loaded a dump without looking at it');
    return found.database;
  }

  /** Gives a loaded database the address and the core of the install. Triggers and views of the dump have no rights beyond it. */
  async function adaptDatabase(
    { ref, sandbox, primaryHostname, secure, database }: HostedInstall,
    staged: StagedWebsite,
    { tablePrefix, hosts }: ImportedDatabase,
    { login }: LoadingUser,
    signal: AbortSignal,
  ): Promise<void> {
    const beside: SandboxedInstall = { ...sandbox, home: staged.folder };
    await websites.makeImportedFiles(beside, { primaryHostname, secure, database, tablePrefix });
    const scheme = secure ? 'https' : 'http';
    try {
      const wanted = { from: hosts, to: primaryHostname, scheme, login, signal } as const;
      await websites.replaceUrls(beside, staged.database, wanted);
      // The dump can come from another version of WordPress.
      await runWhole(layout, beside, {
        script: phpFileOf(layout.coreOf(sandbox.wordpressVersion), 'upgrade.php'),
        ...bareRun(staged.database, login),
        enter: options.enter(ref.id),
        timeoutMs: UPGRADE_MS,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new RefusedImportError(`The imported WordPress does not start: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** The paths of the archive, and of the dump if that is not in the archive. */
  async function fetchSource(
    source: ImportSource,
    sandbox: SandboxedInstall,
    {
      work,
      enter,
      signal,
      report,
    }: {
      work: string;
      enter: readonly string[];
      signal: AbortSignal | undefined;
      report: ReportProgress;
    },
  ): Promise<{ archive: string; dump?: string }> {
    if ('file' in source) return { archive: join(layout.homeOf(sandbox.id), source.file) };
    const mostBytes = layout.limits.bytes ?? 0;
    const fetching = { enter, signal };
    const progress = (done: number, total: number | null) => report(done, total, 'download');
    if ('ssh' in source) {
      const input = JSON.stringify({ ...source.ssh, mostBytes });
      const script = { name: 'import-ssh.php', args: [work], input, ...fetching };
      return runImportScript(layout, sandbox, script, Fetched, progress);
    }
    const archive = join(work, 'archive');
    await runImportScript(
      layout,
      sandbox,
      {
        name: 'import-download.php',
        args: [archive],
        // By standard input, because every process of the machine can read arguments.
        input: JSON.stringify({ url: source.url, mostBytes }),
        settings: downloadSettings,
        ...fetching,
      },
      Downloaded,
      progress,
    );
    return { archive };
  }

  return {
    import: importWebsite,
    async last(installId) {
      const record = await replacement.readRecord(layout.homeOf(installId));
      return record === null ? null : Value.Parse(Imported, JSON.parse(record));
    },
    recover: (installId) => replacement.recover(layout.homeOf(installId)),
  };
}

function limitsOf({ limits }: LinuxLayout): string[] {
  return [limits.bytes, limits.files].map((limit) => String(limit ?? 0));
}
