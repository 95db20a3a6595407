import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { syncFileSystem } from '../../../lib/sync-file-system.ts';
import { OWN_PREFIX } from '../../runtime/wasm/abandoned-entries.ts';
import type { LibraryScript } from '../../runtime/wasm/library-script.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import { DATABASE_FILE, MUST_USE_FILE, renderWpConfig, withStopLine } from '../../wordpress/site-config.ts';
import { type Layout, type WebsiteFolders, websiteIn } from '../host-folder/layout.ts';
import { copyTree } from './copy-tree.ts';
import { DATABASE, PRIVATE, PURGES } from './site.ts';
import { readWebsiteText } from './website-text.ts';

/** Runs our PHP on a document root outside the installs. Ends its process afterwards. */
export type RunOn = (
  website: WebsiteFolders & { version: string; origin: string },
  scripts: readonly LibraryScript[],
) => Promise<void>;

/**
 * A finished website of each WordPress version. A new website gets a copy, which is a hundred times as fast as an installation.
 */
export interface GoldenCopies {
  /** The folder of the website to copy; made if needed. */
  ensure(version: string): Promise<string>;
}

/** Increased whenever the creation changes, so that older copies are not used. */
const FORMAT = 2;
/** Time limit of each script. PHP compiles all of WordPress, on a machine that may be busy. */
const MAKING_MS = 5 * MINUTE_MS;
/** WordPress's own default contains the date; people expect only the name. */
const PERMALINKS = '/%postname%/';

export function createGoldenCopies({
  layout,
  runOn,
  log,
}: {
  layout: Layout;
  runOn: RunOn;
  log: Logger;
}): GoldenCopies {
  const serial = serializeByKey();

  async function make(version: string, target: string): Promise<void> {
    const started = performance.now();
    const folder = join(layout.making, OWN_PREFIX + randomUUID());
    const website = websiteIn(folder);
    try {
      await makeTree(website, layout.coreOf(version));
      await runOn({ ...website, version, origin: PLACEHOLDER.origin }, [
        {
          script: 'install.php',
          args: [PLACEHOLDER.user, PLACEHOLDER.email, PLACEHOLDER.title, PERMALINKS],
          timeoutMs: MAKING_MS,
        },
        // A separate script, because WordPress reads the permalink structure at its start.
        { script: 'settle.php', timeoutMs: MAKING_MS },
      ]);
      forgetTemporaryValues(join(website.database, DATABASE));
      for (const name of ['wp-config.php', `${PRIVATE}/${PURGES}`])
        await rm(join(website.files, name), { force: true });
      await syncFileSystem(folder);
      await rename(folder, target).catch((error: unknown) => {
        // A command beside the server can be first.
        if (!existsSync(target)) throw error;
      });
      await syncFolder(layout.golden);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    log.info(
      { version, ms: Math.round(performance.now() - started) },
      `prepared WordPress ${version} for new websites`,
    );
  }

  return {
    ensure: (version) =>
      serial('golden', async () => {
        const target = join(layout.golden, `${version}-${FORMAT}`);
        await mkdir(layout.making, { recursive: true, mode: 0o700 });
        if (!existsSync(target)) await make(version, target);
        return target;
      }),
  };
}

async function makeTree({ files, database }: WebsiteFolders, core: string): Promise<void> {
  const content = join(files, 'wp-content');
  for (const name of ['mu-plugins', 'plugins', 'themes', 'uploads']) {
    await mkdir(join(content, name), { recursive: true, mode: 0o755 });
  }
  for (const folder of [join(files, PRIVATE), database])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ['plugins', 'themes']) {
    const from = join(core, 'wp-content', name);
    if (!existsSync(from)) continue;
    await copyTree(from, join(content, name));
  }
  await writeHostFiles(files);
  await writeFile(
    join(files, 'wp-config.php'),
    renderWpConfig(() => randomUUID(), undefined, 'before'),
  );
}

/** An owner can put anything in the place of a file or folder. It stays there, and no link is followed. */
const TAKEN = ['EEXIST', 'ENOTDIR'];

/** Writes the files without which a website cannot run, if they are missing, and completes a configuration of an earlier host. */
export async function writeHostFiles(files: string): Promise<void> {
  const content = join(files, 'wp-content');
  const plugins = join(content, 'mu-plugins');
  // This folder belongs to the customer. If it is lost, an empty one would hide that.
  const hasContent = (await ifThere(lstat(content)))?.isDirectory() === true;
  const hasPlugins = hasContent && (await provideFolder(plugins));
  if (hasContent) await provideFile(join(content, 'db.php'), DATABASE_FILE);
  if (hasPlugins) await provideFile(join(plugins, 'homeport.php'), MUST_USE_FILE);
  await completeConfig(join(files, 'wp-config.php'));
}

/** More than the rendered file has. */
const MOST_OF_CONFIG = 64 * 1024;

/** Adds the line that WP-CLI needs, unless the owner has changed the file. */
async function completeConfig(path: string): Promise<void> {
  const text = await ifThere(readWebsiteText(path, MOST_OF_CONFIG));
  const complete = text === null ? null : withStopLine(text);
  if (complete !== null) await writeDurably(path, complete);
}

/** Whether the folder is there, and no link. */
async function provideFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o755 });
  } catch (error) {
    if (!hasCode(error, ...TAKEN)) throw error;
  }
  return (await lstat(path)).isDirectory();
}

async function provideFile(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    if (!hasCode(error, ...TAKEN)) throw error;
  }
}

function forgetTemporaryValues(file: string): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    database.exec("delete from wp_options where option_name like '%\\_transient\\_%' escape '\\'");
  } finally {
    database.close();
  }
}
