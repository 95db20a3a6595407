import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPrograms } from '../../src/hosting/runtime/machine/find-programs.ts';
import { phpFileOf } from '../../src/hosting/wordpress/php-files.ts';
import { renderPrepend } from '../../src/hosting/wordpress/site-config.ts';
import { askFastcgi } from '../../src/lib/fastcgi.ts';
import { temporaryFolder } from '../measure/processes.ts';
import { cpuMsBelow, pssMbBelow } from './php-processes.ts';
import type { Platform } from './platform.ts';

/** A PHP-FPM with the settings of the machine and without walls. */
export interface PlainFpm {
  page(number: number): Promise<void>;
  phpMs(): number;
  allMs(): number;
  pssMb(): number;
  stop(): Promise<void>;
}

const WORKERS = 2;
const START_LOOKS = 500;
const LOOK_MS = 20;
const TIMEOUT_MS = 60_000;

/** Serves a copy of a website of the platform. Its requests come by FastCGI, so no web server is part of its time. */
export async function startPlainFpm(platform: Platform, name: string): Promise<PlainFpm> {
  const [programs] = findPrograms(process.env.PATH ?? '');
  if (programs === undefined) throw new Error('this machine has no PHP-FPM (apt-get install php-fpm)');
  const folder = temporaryFolder();
  const at = (path: string) => join(folder.path, path);
  const { files, database, core, sqlite, databaseName } = platform.placesOf(name);
  for (const from of [core, files]) cpSync(from, at('root'), { recursive: true, verbatimSymlinks: true });
  cpSync(database, at('database'), { recursive: true });
  mkdirSync(at('private'));
  writeFileSync(
    at('prepend.php'),
    renderPrepend({
      root: at('root'),
      database: databaseName,
      databaseFolder: at('database'),
      purge: `file://${at('private/purges')}`,
      origin: `http://${platform.hostOf(name)}`,
      pass: null,
      library: phpFileOf(core, '.'),
      sqlite,
    }),
  );
  const socket = at('fpm.sock');
  writeFileSync(
    at('fpm.conf'),
    `[global]\nerror_log = ${at('fpm.log')}\n[plain]\nlisten = ${socket}\npm = static\npm.max_children = ${WORKERS}
${process.getuid?.() === 0 ? 'user = root\ngroup = root\n' : ''}php_value[auto_prepend_file] = ${at('prepend.php')}\nphp_value[memory_limit] = 256M\n`,
  );
  const asRoot = process.getuid?.() === 0 ? ['--allow-to-run-as-root'] : [];
  const child = spawn(programs.fpm, ['--nodaemonize', ...asRoot, '--fpm-config', at('fpm.conf')], {
    stdio: 'ignore',
  });
  const pid = child.pid ?? 0;

  const ask = (target: string) =>
    askFastcgi(
      socket,
      {
        DOCUMENT_ROOT: at('root'),
        SCRIPT_FILENAME: at('root/index.php'),
        SCRIPT_NAME: '/index.php',
        REQUEST_METHOD: 'GET',
        REQUEST_URI: target,
        QUERY_STRING: target.split('?')[1] ?? '',
        HTTP_HOST: platform.hostOf(name),
        REMOTE_ADDR: '127.0.0.1',
        SERVER_PROTOCOL: 'HTTP/1.1',
        GATEWAY_INTERFACE: 'CGI/1.1',
      },
      { timeoutMs: TIMEOUT_MS },
    );

  async function stop(): Promise<void> {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    folder.remove();
  }

  for (let look = 0; ; look++) {
    const answer = await ask('/').catch((error: unknown) => error);
    if (!(answer instanceof Error)) break;
    if (look === START_LOOKS || child.exitCode !== null) {
      await stop();
      throw new Error('PHP-FPM did not start', { cause: answer });
    }
    await sleep(LOOK_MS);
  }
  return {
    async page(number) {
      const { status, body, errors } = await ask(`/?uncached=${number}`);
      if (status !== 200 || !body.includes('</html>'))
        throw new Error(`PHP-FPM answered ${status}: ${errors}`);
    },
    phpMs: () => cpuMsBelow(pid),
    allMs: () => cpuMsBelow(pid),
    pssMb: () => pssMbBelow(pid),
    stop,
  };
}
