import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runPhp, runWhole } from '../../runtime/linux/run-php.ts';
import { requireCore } from '../../wordpress/core-tree.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { PLACEHOLDER } from '../../wordpress/placeholder.ts';
import type { Databases } from '../daemons/databases.ts';
import { makeHome } from '../isolation/folders.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { UnixUsers } from '../isolation/unix-users.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { templateStatements } from './first-content.ts';
import { createScratchWebsites } from './scratch-website.ts';
import { makeSiteFiles } from './site-files.ts';

/**
 * The initial database content of each WordPress version. A new website gets a copy, which is faster than an installation.
 * WordPress itself creates it, in a scratch website.
 */
export interface DatabaseTemplates {
  /** Path of the statements that fill an empty database (first-content.ts); creates them if needed. */
  ensure(version: string): Promise<string>;
}

export interface DatabaseTemplateOptions {
  layout: LinuxLayout;
  databases: Databases;
  users: UnixUsers;
  /** PHP version for the installation. */
  php(): Promise<PhpRuntime>;
  log: Logger;
}

/** Increased whenever the creation changes, so that older templates are not used. */
const FORMAT = 1;
/** WordPress's own default contains the date; people expect only the name. */
const PERMALINKS = '/%postname%/';

export function createDatabaseTemplates(options: DatabaseTemplateOptions): DatabaseTemplates {
  const { layout, databases, users, log } = options;
  const serial = serializeByKey();
  const scratch = createScratchWebsites({
    layout,
    users,
    // The name of earlier versions, so that a scratch website which one of them left is still found and removed.
    kind: 'golden',
    undo: (name) => databases.drop(databaseOf({ name }), name),
  });

  async function make(version: string, file: string): Promise<void> {
    const started = performance.now();
    const made = { php: await options.php(), wordpressVersion: version };
    const sql = await scratch.use(made, (install) => installIn(install, databaseOf(install)));
    await writeDurably(file, templateStatements(sql));
    log.info(
      { version, ms: Math.round(performance.now() - started) },
      `created the database template of WordPress ${version}`,
    );
  }

  /** Returns the dump. */
  async function installIn(install: SandboxedInstall, database: string): Promise<string> {
    const core = layout.coreOf(install.wordpressVersion);
    await makeHome(layout, install);
    await databases.create(database, install.name);
    const config = {
      root: foldersOf(layout, install).htdocs,
      database,
      user: install.name,
      socket: layout.mariadbSocket,
      redis: null,
      purge: null,
      pass: null,
      origin: PLACEHOLDER.origin,
    };
    await makeSiteFiles(layout, install, config, () => randomBytes(32).toString('base64'));
    await runWhole(layout, install, {
      script: phpFileOf(core, 'install.php'),
      args: [PLACEHOLDER.user, PLACEHOLDER.email, PLACEHOLDER.title, PERMALINKS],
    });
    // In a second process, because WordPress reads the permalink structure at its start.
    await runPhp(layout, install, { script: phpFileOf(core, 'settle.php') });
    // Temporary values, some of which name the folder of the scratch website.
    await databases.query(database, "DELETE FROM wp_options WHERE option_name LIKE '%\\_transient\\_%'");
    const file = join(foldersOf(layout, install).home, 'template.sql');
    await databases.dump(database, file);
    return readFile(file, 'utf8');
  }

  return {
    async ensure(version) {
      const file = join(layout.templates, `${version}-${FORMAT}.sql`);
      await mkdir(layout.templates, { recursive: true, mode: 0o700 });
      if (!(await exists(file))) {
        await requireCore(layout.coreOf(version));
        await serial('template', async () => {
          if (!(await exists(file))) await make(version, file);
        });
      }
      return file;
    },
  };
}

/** With the prefix `hp_`, like every database of this host. */
function databaseOf({ name }: { name: string }): string {
  return `hp_${name.replaceAll('-', '_')}`;
}

async function exists(path: string): Promise<boolean> {
  return (await ifThere(stat(path))) !== null;
}
