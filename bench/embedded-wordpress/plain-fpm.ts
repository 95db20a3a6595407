import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { findPrograms } from '../../src/hosting/runtime/machine/find-programs.ts';
import { phpFileOf } from '../../src/hosting/wordpress/php-files.ts';
import { renderPrepend } from '../../src/hosting/wordpress/site-config.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { type Served, serve, temporaryFolder } from '../measure/processes.ts';
import { cpuMsBelow, pssMbBelow } from './php-processes.ts';
import type { Platform } from './platform.ts';

/** nginx before a PHP-FPM with the settings of the machine and without walls. */
export interface PlainFpm {
  page(number: number): Promise<void>;
  phpMs(): number;
  allMs(): number;
  pssMb(): number;
  stop(): Promise<void>;
}

const WORKERS = 2;
const NGINX = '/usr/sbin/nginx';

/** Serves a copy of a website of the platform. */
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

  async function stop(): Promise<void> {
    await nginx?.stop();
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    folder.remove();
  }

  let nginx: Served | undefined;
  try {
    nginx = await serveNginx(folder.path, socket);
  } catch (error) {
    await stop();
    throw error;
  }
  const { origin, cpuMs } = nginx;
  const agent = new Agent({ connections: 1 });
  return {
    async page(number) {
      const { statusCode, body } = await request(`${origin}/?uncached=${number}`, {
        dispatcher: agent,
        headers: { host: platform.hostOf(name) },
      });
      const text = await body.text();
      if (statusCode !== 200 || !text.includes('</html>')) {
        throw new Error(`PHP-FPM answered ${statusCode}: ${text}`);
      }
    },
    phpMs: () => cpuMsBelow(pid),
    allMs: () => cpuMsBelow(pid) + cpuMs(),
    pssMb: () => pssMbBelow(pid),
    async stop() {
      await agent.close();
      await stop();
    },
  };
}

/** In one process, with the access log that every web server writes. `socket`: of PHP-FPM. */
async function serveNginx(folder: string, socket: string): Promise<Served> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `user root; daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;
events { worker_connections 64; }
http { access_log ${folder}/access.log; client_body_temp_path ${folder}/body; fastcgi_temp_path ${folder}/pages;
proxy_temp_path ${folder}/proxy; scgi_temp_path ${folder}/scgi; uwsgi_temp_path ${folder}/uwsgi;
server { listen 127.0.0.1:${port}; root ${folder}/root;
location / { try_files $uri /index.php$is_args$args; }
location ~ \\.php$ { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
fastcgi_param HTTP_HOST $http_host; fastcgi_pass unix:${socket}; } } }`,
  );
  return serve([NGINX, '-c', file], { origin: `http://127.0.0.1:${port}` });
}
