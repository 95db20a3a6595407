import { posix } from 'node:path';
import type { Logger } from 'pino';
import Type from 'typebox';
import { RefusedImportError } from '../../contract/errors.ts';
import type { ImportedWebsite, ImportSource, ImportStep, WebsiteImports } from '../../contract/imports.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { upgradeDatabase } from '../database/upgrade-database.ts';
import { importRecord, recordedImport } from '../replacement-record.ts';
import { UrlsNotReplacedError } from '../urls/replace-urls.ts';
import { runImportScript } from './import-script.ts';
import type { ImportableWebsite, ImportSteps, LoadedDatabase, StagedWebsite } from './importable-website.ts';
import { findWordPress, type ImportedDatabase } from './imported-database.ts';

export interface ImportsOptions {
  /** Rejects with a `PermanentHostError` if the host has no such website. */
  websiteOf(install: InstallRef): Promise<ImportableWebsite>;
  log: Logger;
  /** A file with the certificate of the authority of a download, as scripts see it. For tests. */
  authority?: string;
}

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
const Downloaded = Type.Object({ bytes: Type.Integer() });

/** The limits and the way to report a step of an import. */
interface Building {
  website: ImportableWebsite;
  signal: AbortSignal;
  report: ReportProgress;
}

/**
 * Imports existing websites. Builds each beside the present one, with scripts that have the rights of the website alone, and then replaces
 * that. The caller serializes calls for the same install.
 */
export function createWebsiteImports({ websiteOf, log, authority }: ImportsOptions): WebsiteImports {
  const lastOf = async (website: ImportableWebsite) => recordedImport(await website.record());

  async function build(
    install: InstallRef,
    staged: StagedWebsite,
    source: ImportSource,
    building: Building,
  ): Promise<ImportedWebsite> {
    const { work, content, runtime } = staged;
    const steps = (step: ImportStep): ImportSteps => ({
      signal: building.signal,
      report: (done, total) => building.report(done, total, step),
    });
    const fetched = await fetchSource(staged, source, building.website, steps('download'));
    const unpacked = await runImportScript(
      runtime,
      {
        script: 'import-unpack.php',
        args: [
          fetched.archive,
          posix.join(work, 'tree'),
          content,
          ...limitsOf(building.website),
          'ssh' in source ? '' : (source.site ?? ''),
          ...(fetched.dump === undefined ? [] : [fetched.dump]),
        ],
      },
      Unpacked,
      steps('unpack'),
    );
    const { dump, isWpress, files, bytes } = unpacked;
    const loaded = await staged.load({ file: dump, isWpress }, steps('database'), async (database) => {
      const found = await findWordPress(database, unpacked.tablePrefix);
      building.report(0, null, 'urls');
      await adapt(database, found, building.signal);
      return found;
    });
    const { tablePrefix, hosts } = loaded.result;
    const notes = [...unpacked.notes, ...loaded.notes]
      .slice(0, MOST_NOTES)
      .map((note) => note.slice(0, LONGEST_NOTE));
    log.info(
      { install: install.id, files, bytes, tablePrefix, hosts, notes },
      `imported a website into ${install.name}`,
    );
    return { tablePrefix, files, bytes, notes };
  }

  /** The paths of the archive, and of the dump if that is not in the archive. */
  async function fetchSource(
    staged: StagedWebsite,
    source: ImportSource,
    { limits }: ImportableWebsite,
    steps: ImportSteps,
  ): Promise<{ archive: string; dump?: string }> {
    if ('file' in source) return { archive: await staged.see(source.file) };
    if ('ssh' in source) return staged.fetchBySsh(source.ssh, steps);
    const archive = posix.join(staged.work, 'archive');
    const download = {
      script: 'import-download.php',
      args: [archive],
      // By standard input, because every process of a machine can read arguments.
      input: JSON.stringify({ url: source.url, mostBytes: limits.bytes ?? 0, authority }),
    };
    await runImportScript(staged.runtime, download, Downloaded, steps);
    return { archive };
  }

  return {
    async importWebsite(install, source, { importId = null } = {}, signal, report = () => {}) {
      const website = await websiteOf(install);
      await website.recover();
      const last = await lastOf(website);
      const imported =
        last !== null && last.importId === importId
          ? last.website
          : await website.stage(async (staged, limited) => {
              const built = await build(install, staged, source, { website, signal: limited, report });
              limited.throwIfAborted();
              await staged.replace(importId === null ? null : importRecord({ importId, website: built }));
              return built;
            }, signal);
      report(0, null, 'check');
      await website.serve(signal);
      const warning = await website.warning(signal);
      return { ...imported, ...(warning === null ? {} : { warning }) };
    },

    async lastImport(install) {
      const website = await websiteOf(install);
      await website.recover();
      return (await lastOf(website))?.importId ?? null;
    },
  };
}

/** Gives a loaded database the address and the WordPress of the website. */
async function adapt(
  database: LoadedDatabase,
  { tablePrefix, hosts }: ImportedDatabase,
  signal: AbortSignal,
): Promise<void> {
  await database.makeFiles(tablePrefix);
  try {
    await database.replaceUrls(hosts, signal);
  } catch (error) {
    if (!(error instanceof UrlsNotReplacedError)) throw error;
    throw new RefusedImportError(doesNotStart(error.reason), { cause: error });
  }
  // The dump can come from another version of WordPress.
  const reason = await upgradeDatabase(database.runtime, signal);
  if (reason !== null) throw new RefusedImportError(doesNotStart(reason));
}

/** A refusal of the imported WordPress. */
const doesNotStart = (reason: string): string => `The imported WordPress does not start: ${reason}`;

function limitsOf({ limits }: ImportableWebsite): string[] {
  return [limits.bytes, limits.files].map((limit) => String(limit ?? 0));
}
