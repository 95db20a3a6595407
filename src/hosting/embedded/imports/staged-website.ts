import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { LEAST_FREE_BYTES } from '../../../lib/free-space.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { syncFileSystem } from '../../../lib/sync-file-system.ts';
import { watchingFreeSpace } from '../../../lib/watching-free-space.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { InstallLimits } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { refusalOfEmbedded } from '../../policy/capabilities.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { SEEN } from '../../runtime/wasm/library-script.ts';
import type { PhpSites } from '../../runtime/wasm/php-sites.ts';
import { wasmPrograms } from '../../runtime/wasm/wasm-runtime.ts';
import { requireEnd, runImportScript } from '../../websites/imports/import-script.ts';
import type { ImportableWebsite, LoadedDatabase } from '../../websites/imports/importable-website.ts';
import { replaceUrls } from '../../websites/urls/replace-urls.ts';
import { DATABASE_FILE, renderWpConfig } from '../../wordpress/site-config.ts';
import type { Layout } from '../host-folder/layout.ts';
import { removeTree } from '../snapshots/archive-exchange.ts';
import { PRIVATE, type SiteFacts } from '../wordpress/site.ts';
import type { WordPressSites } from '../wordpress/wordpress-sites.ts';
import { linkPlainFiles } from './linked-archive.ts';

interface StagingOptions {
  layout: Layout;
  php: PhpSites;
  sites: Pick<WordPressSites, 'addressOf' | 'siteIn'>;
  install: InstallRef;
  facts: SiteFacts;
  limits: InstallLimits;
  randomness: Randomness;
  /** Replaces the present website by the built one. See `StagedWebsite.replace`. */
  replace(built: BuiltWebsite, record: string | null): Promise<void>;
}

/** Folders of a website that is ready to replace another one. */
export interface BuiltWebsite {
  /** The document root, without its `wp-content`. */
  files: string;
  content: string;
  database: string;
}

const QUERY_BYTES = 16 * 1024 * 1024;
const QUERY_MS = 5 * MINUTE_MS;
/** Names in the private folder of the staged website. */
const [WORK, ARCHIVES, CONTENT] = ['work', 'archives', 'content'];

const Loaded = Type.Object({ skipped: Type.Array(Type.String()) });
const Rows = Type.Array(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])));
/** Names of views and programs in a note. */
const MOST_NAMED = 5;

/**
 * Builds a website in folders of its own, with a process of PHP that sees those alone: whatever is in the archive reaches nothing of the
 * present website. Its `wp-content` stays apart until then, so nothing of it runs.
 */
export function stageImports(options: StagingOptions): ImportableWebsite['stage'] {
  const { layout, php, sites, install, facts, limits } = options;
  const mostBytes = String(limits.bytes ?? 0);

  return async (build, signal) => {
    const folder = layout.importOf(install.id);
    const [files, database, own] = ['files', 'database', 'private'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await removeTree(folder);
    await mkdir(join(files, 'wp-content'), { recursive: true, mode: 0o755 });
    for (const one of [database, own, join(own, WORK)]) await mkdir(one, { mode: 0o700 });
    await writeFile(join(files, 'wp-content', 'db.php'), DATABASE_FILE);
    // With the platform's limits, because those of the website are for its visitors.
    const found = await sites.siteIn({ files, database }, { ...facts, php: undefined });
    const site = { ...found, private: own, limits: { ...found.limits, threads: 1 } };
    const runtime = wasmPrograms({ php, site: async () => site, origin: facts.origin });
    try {
      return await watchingFreeSpace({ folder, least: LEAST_FREE_BYTES, full: noRoom }, signal, (limited) =>
        build(
          {
            runtime,
            work: `${SEEN.private}/${WORK}`,
            content: `${SEEN.private}/${CONTENT}`,
            async see(file) {
              const [, ...names] = file.split('/');
              const root = layout.filesOf(install.id);
              await linkPlainFiles(root, [PRIVATE, ...names.slice(0, -1)], join(own, ARCHIVES));
              return `${SEEN.private}/${ARCHIVES}/${names.at(-1)}`;
            },
            async fetchBySsh() {
              throw new RefusedImportError(refusalOfEmbedded('imports_by_ssh', 'wordpress'));
            },
            async load(dump, steps, adapt) {
              const { skipped } = await runImportScript(
                runtime,
                {
                  script: 'import-sqlite.php',
                  args: [dump.file, mostBytes, dump.isWpress ? 'wpress' : ''],
                },
                Loaded,
                steps,
              );
              const result = await adapt(loadedDatabase(options, runtime, files, steps.signal));
              return { result, notes: skipped.length === 0 ? [] : [noteAbout(skipped)] };
            },
            async replace(record) {
              await php.stop(site.id);
              await syncFileSystem(folder);
              await options.replace({ files, content: join(own, CONTENT), database }, record);
            },
          },
          limited,
        ),
      );
    } finally {
      await php.stop(site.id);
      await removeTree(folder);
    }
  };
}

const noRoom = () => new RefusedImportError('The host has too little free space. Ask its operator.');

function noteAbout(skipped: readonly string[]): string {
  const more = skipped.length - MOST_NAMED;
  const names = skipped.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `Not imported: ${names}. The database of this install is SQLite, which cannot have those of MySQL.`;
}

function loadedDatabase(
  { facts, sites, randomness }: StagingOptions,
  runtime: Programs,
  files: string,
  signal: AbortSignal,
): LoadedDatabase {
  return {
    async query(input) {
      const script = 'query-sqlite.php';
      const run = { script, input, timeoutMs: QUERY_MS, mostOutput: QUERY_BYTES };
      const end = await runtime.runScript(run, signal);
      requireEnd(script, end);
      const rows = Value.Parse(Rows, JSON.parse(end.stdout));
      return rows.map((row) => row.map((value) => String(value ?? '')));
    },
    async makeFiles(tablePrefix) {
      const secret = () => randomness.bytes(48).toString('base64');
      await writeFile(join(files, 'wp-config.php'), renderWpConfig(secret, tablePrefix, 'before'), {
        mode: 0o600,
      });
    },
    replaceUrls: (from, signal) => replaceUrls(runtime, { from, ...sites.addressOf(facts) }, signal),
    runtime,
  };
}
