import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { layOwnCores, layPrepared, preparedCode } from '../../../../test/host/prepared.ts';
import { wordpressCore } from '../../../../test/host/wordpress-core.ts';
import { hostsFolder } from '../../../../test/memory-folder.ts';
import { drawOwn } from '../../../../test/servers/draw-own.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import { createWordPressCores } from '../../wordpress/cores.ts';
import { createCgroups } from '../daemons/cgroups.ts';
import { createDatabases } from '../daemons/databases.ts';
import { createDatabaseServer } from '../daemons/mariadb.ts';
import { redisSpec } from '../daemons/redis.ts';
import { createSupervisor } from '../daemons/supervisor.ts';
import { makeHome, removeHome } from '../isolation/folders.ts';
import { enableExtrausers } from '../isolation/nsswitch.ts';
import { createProjectQuotas } from '../isolation/project-quotas.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import { createUnixUsers } from '../isolation/unix-users.ts';
import { type CodeFolders, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { commandSettings } from '../php/compiled-code.ts';
import { fpmSpec, writeFpmFiles } from '../php/fpm.ts';
import { createCompiledCores } from './compiled-cores.ts';
import { createDatabaseTemplates } from './database-templates.ts';
import { createWebsites, type WebsitesOptions } from './website.ts';

const LIMITS = { memoryMb: 512, cpuPercent: 200, processes: 64 };
const FIRST_UID = 1_700_000;

/** A test's own folders, users and database server for WordPress. */
export type WordPressMachine = Awaited<ReturnType<typeof startWordPressMachine>>;

export async function startWordPressMachine({
  log = pino({ level: 'silent' }),
  isPrepared = true,
  ownCores = !isPrepared,
  code = ownCores ? undefined : preparedCode(),
}: {
  log?: Logger;
  /** Whether the database server and WordPress are those that all tests share; else they are made. */
  isPrepared?: boolean;
  /** For tests that change WordPress or add versions. */
  ownCores?: boolean;
  code?: CodeFolders | undefined;
} = {}) {
  const word = randomBytes(4).toString('hex');
  const instance = `w${word}`;
  // Root's own all the way up, and short: the path of a socket has at most 107 bytes.
  const layout = linuxLayout(`${hostsFolder()}/hpt-${word}`, `/run/hpt-${word}`, NO_LIMITS, code);
  for (const folder of [layout.folder, layout.runFolder]) await mkdir(folder, { mode: 0o711 });
  await enableExtrausers();
  const first = FIRST_UID + drawOwn(0, 5_000) * 20;
  const users = createUnixUsers({ instance, uids: { first, last: first + 19 } });
  const cgroups = createCgroups({ instance, log });
  const daemons = createSupervisor({ runFolder: layout.runFolder, cgroups, log, clock: systemClock });
  const databases = createDatabases({ layout });
  if (isPrepared) await layPrepared(layout, ['mariadb']);
  await daemons.start();
  await createDatabaseServer({ layout, daemons, log }).ensure();
  const [php] = await findPhpRuntimes(layout);
  if (php === undefined) throw new Error('this machine has no PHP');
  const compiledCores = createCompiledCores({ layout, users, log });
  const made: SandboxedInstall[] = [];

  return {
    instance,
    layout,
    users,
    quotas: createProjectQuotas({ layout, log }),
    cgroups,
    daemons,
    databases,
    php,
    log,
    isPrepared,
    ownCores,
    /** Prerequisites of a website: Unix user, home, empty database. */
    async newInstall(wordpressVersion: string): Promise<{ install: SandboxedInstall; database: string }> {
      const id = systemRandomness.uuid();
      const name = `shop-${randomBytes(4).toString('hex')}`;
      const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
      const compiledCore = await compiledCores.find(php, wordpressVersion);
      const compiled = compiledCore === null ? {} : { compiledCore };
      const install = { id, name, ...ids, php, wordpressVersion, ...compiled };
      made.push(install);
      await makeHome(layout, install);
      const database = `hp_${id.replaceAll('-', '')}`;
      await databases.create(database, name);
      return { install, database };
    },
    /** Starts PHP and Redis of a website. */
    async serve(install: SandboxedInstall): Promise<void> {
      const options = { layout, install, limits: LIMITS };
      await writeFpmFiles(options);
      await Promise.all([daemons.ensure(fpmSpec(options)), daemons.ensure(redisSpec({ layout, install }))]);
    },
    /** A folder of root's for a test's own files. */
    async folder(name: string): Promise<string> {
      const path = join(layout.folder, name);
      await mkdir(path);
      return path;
    },
    async stop(): Promise<void> {
      await daemons.stop();
      for (const { id } of made) {
        await removeHome(layout, id);
        await users.remove(id);
      }
      for (const name of await cgroups.list()) await cgroups.remove(name);
      // As in test/host/machine.ts.
      await runCommand('rm', ['-rf', layout.folder, layout.runFolder]);
    },
  };
}

/** WordPress on such a machine: a core, its database template, and what makes websites of them. */
export async function startWordPress(
  machine: WordPressMachine,
  {
    clock = systemClock,
    origin = defaultOrigin,
    source,
  }: { clock?: Clock; origin?: WebsitesOptions['origin']; source?: string } = {},
) {
  const { layout, databases, users, php, log, isPrepared, ownCores } = machine;
  if (isPrepared && source === undefined) {
    await layPrepared(layout, ['templates']);
    if (ownCores) await layOwnCores(layout);
  }
  const cores = createWordPressCores({
    layout,
    source: source ?? wordpressCore(),
    url: 'http://127.0.0.1:1',
    isLinked: true,
    log,
  });
  await cores.ensureAny();
  const [version = ''] = await cores.list();
  const templates = createDatabaseTemplates({ layout, databases, users, php: async () => php, log });
  const parts = { layout, databases, templates, origin, log, clock, randomness: systemRandomness };
  return { cores, templates, version, websites: createWebsites(parts) };
}

const defaultOrigin = (hostname: string, secure: boolean) =>
  secure ? `https://${hostname}:8444` : `http://${hostname}:8080`;

/** PHP of a website, with all of its WordPress loaded. Gives what it wrote. */
export async function runInWordPress(
  { layout }: WordPressMachine,
  install: SandboxedInstall,
  code: string,
): Promise<string> {
  const settings = Object.entries({ display_errors: 'stderr', ...commandSettings(install) });
  const options = settings.flatMap(([name, value]) => ['-d', `${name}=${value}`]);
  const php: [string, ...string[]] = ['/usr/bin/php', ...options];
  const [program, ...args] = sandboxCommand(layout, install, php, { showCompiled: true });
  const script = `<?php require getenv('HOMEPORT_DOC') . '/wp-load.php';\n${code}`;
  return (await runCommand(program, args, { input: script })).stdout;
}

export interface Visit {
  host?: string;
  secure?: boolean;
  cookie?: string;
  /** Fields of a form that is sent. */
  form?: Record<string, string>;
  /** Whether a browser asks because it guesses the visitor's next step. */
  prefetch?: boolean;
}

/** PHP's answer to a visitor, requested as the web server does: existing files first, then WordPress's index.php. */
export async function visit(
  { layout }: WordPressMachine,
  install: SandboxedInstall,
  path: string,
  { host = 'shop.test', secure = false, cookie = '', form, prefetch = false }: Visit = {},
) {
  const root = layout.htdocsOf(install.id);
  const script = /^\/[^?]*\.php/.exec(path)?.[0] ?? '/index.php';
  const body = form === undefined ? '' : new URLSearchParams(form).toString();
  return askFastcgi(
    layout.phpSocketOf(install.id),
    {
      REQUEST_METHOD: form === undefined ? 'GET' : 'POST',
      REQUEST_URI: path,
      QUERY_STRING: path.split('?')[1] ?? '',
      SCRIPT_NAME: script,
      SCRIPT_FILENAME: root + script,
      DOCUMENT_ROOT: root,
      SERVER_PROTOCOL: 'HTTP/1.1',
      SERVER_NAME: host,
      REMOTE_ADDR: '192.0.2.1',
      HTTP_HOST: host,
      ...(secure ? { HTTPS: 'on' } : {}),
      ...(prefetch ? { HTTP_SEC_PURPOSE: 'prefetch;prerender' } : {}),
      ...(cookie === '' ? {} : { HTTP_COOKIE: cookie }),
      ...(form === undefined ? {} : { CONTENT_TYPE: 'application/x-www-form-urlencoded' }),
    },
    { body, timeoutMs: 30_000 },
  );
}
