import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, lchown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { drawOwn } from '../../../../test/servers/draw-own.ts';
import { systemClock } from '../../../lib/clock.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { type LogLine, siteState as plainState } from '../../policy/edge.fixture.ts';
import { createCgroups } from '../daemons/cgroups.ts';
import { createSupervisor } from '../daemons/supervisor.ts';
import type { Daemons } from '../machine/daemon.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import type { Vhost } from './vhost.ts';

/** Folders and daemons of a host with its own names on this machine. Needs root. */
export async function startTestMachine() {
  const mark = randomBytes(4).toString('hex');
  const folder = `/srv/hpt-${mark}`;
  const runFolder = `/run/hpt-${mark}`;
  for (const path of [folder, runFolder, join(folder, 'installs'), join(runFolder, 'installs')]) {
    await mkdir(path);
    await chmod(path, 0o711);
  }
  const layout = linuxLayout(folder, runFolder);
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  // An empty folder of cgroups: no limits, and nothing to remove afterwards.
  const cgroups = createCgroups({ instance: `t${mark}`, log: pino({ level: 'silent' }), root: runFolder });
  const daemons = createSupervisor({ runFolder, cgroups, log, clock: systemClock });
  return {
    instance: `t${mark}`,
    layout,
    lines,
    log,
    daemons,
    async close() {
      await daemons.stop();
      await rm(folder, { recursive: true, force: true });
      await rm(runFolder, { recursive: true, force: true });
    },
  };
}

/** Installs with real PHP. */
export interface TestInstalls {
  /** Makes the folders of an install, with the test's `index.php`, and starts its PHP. */
  makeInstall(state: InstallState, options?: { php?: boolean | 'ondemand' }): Promise<Vhost>;
  /** Writes a file of an install, below its document root, as the install's. */
  write(install: { id: string }, path: string, content: string | Buffer): Promise<string>;
  /** Makes a symbolic link below the document root of an install, which belongs to the install. */
  link(install: { id: string }, path: string, target: string): Promise<void>;
}

/** Prints what it was asked, and does what the query says. */
const INDEX_PHP = `<?php
foreach ((array) ($_GET['header'] ?? []) as $line) header($line);
if (isset($_GET['cookie'])) setcookie('seen', '1');
if (isset($_GET['status'])) http_response_code((int) $_GET['status']);
if (isset($_GET['wait'])) usleep(1000 * (int) $_GET['wait']);
while (isset($_GET['held']) && !is_file(__DIR__ . '/go-on')) { usleep(1000); clearstatcache(); }
if (is_file(__DIR__ . '/broken')) http_response_code(500);
header('Content-Type: application/json');
$about = ['REQUEST_METHOD', 'HTTP_HOST', 'HTTPS', 'REQUEST_URI', 'SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_INFO', 'QUERY_STRING',
  'HTTP_PROXY', 'HTTP_ACCEPT_ENCODING', 'REMOTE_ADDR', 'SERVER_NAME', 'SERVER_PORT'];
if (isset($_GET['server'])) $about = array_filter(array_keys($_SERVER), fn ($name) => $name === 'REMOTE_ADDR' || str_starts_with($name, 'HTTP_'));
echo json_encode(['time' => hrtime(true), 'length' => strlen(file_get_contents('php://input')), 'uid' => posix_geteuid()]
  + array_intersect_key($_SERVER, array_flip($about)));
`;

export function createTestInstalls({
  layout,
  daemons,
}: {
  layout: LinuxLayout;
  daemons: Daemons;
}): TestInstalls {
  let uid = drawOwn(260_000, 290_000);
  const uids = new Map<string, number>();

  return {
    async makeInstall(state, { php = true } = {}) {
      uid++;
      uids.set(state.id, uid);
      const home = layout.homeOf(state.id);
      const htdocs = layout.htdocsOf(state.id);
      await mkdir(htdocs, { recursive: true });
      await chown(htdocs, uid, uid);
      await chmod(home, 0o700);
      await runCommand('setfacl', ['-m', `u:${uid}:x,u:www-data:x`, home]);
      const run = layout.runOf(state.id);
      await mkdir(run);
      await chown(run, uid, uid);
      await chmod(run, 0o700);
      await runCommand('setfacl', ['-m', 'u:www-data:x', run]);
      await writeFile(join(htdocs, 'index.php'), INDEX_PHP);
      await chown(join(htdocs, 'index.php'), uid, uid);
      if (php) await startPhp(daemons, layout, state.id, uid, php === 'ondemand' ? 'ondemand' : 'static');
      return { state, uid, wordpressVersion: '6.8.7' };
    },

    async write(install, path, content) {
      const file = join(layout.htdocsOf(install.id), path);
      const owner = uids.get(install.id) ?? 0;
      const missing = await mkdir(dirname(file), { recursive: true });
      if (missing !== undefined) await runCommand('chown', ['-R', `${owner}:${owner}`, missing]);
      await writeFile(file, content);
      await chown(file, owner, owner);
      return file;
    },

    async link(install, path, target) {
      const owner = uids.get(install.id) ?? 0;
      const file = join(layout.htdocsOf(install.id), path);
      await symlink(target, file);
      await lchown(file, owner, owner);
    },
  };
}

/** PHP-FPM of an install, without the sandbox, under its uid. */
export async function startPhp(
  daemons: Daemons,
  layout: LinuxLayout,
  id: string,
  uid: number,
  pm: 'static' | 'ondemand' = 'static',
): Promise<void> {
  const socket = layout.phpSocketOf(id);
  await mkdir(layout.phpRun, { recursive: true, mode: 0o1777 });
  await chmod(layout.phpRun, 0o1777);
  const config = join(layout.runFolder, `${id}.conf`);
  await rm(socket, { force: true });
  await writeFile(
    config,
    `[global]
error_log = ${join(layout.runFolder, `${id}.log`)}
[www]
listen = ${socket}
listen.mode = 0666
user = ${uid}
group = ${uid}
pm = ${pm}
pm.max_children = 4
`,
  );
  const [php] = await findPhpRuntimes(layout);
  if (php === undefined) throw new Error('this machine has no PHP');
  await daemons.ensure({
    name: `php-${id}`,
    description: 'PHP',
    command: [
      php.fpm,
      '--nodaemonize',
      '-n',
      '-d',
      'extension=posix',
      '-d',
      'post_max_size=100M',
      '--fpm-config',
      config,
    ],
    async ready() {
      const probe = connect(socket);
      await once(probe, 'connect');
      probe.destroy();
    },
  });
}

/** What an install of WordPress should be; `hostnames` are names served plainly, or more. */
export function siteState(
  name: string,
  hostnames?: Parameters<typeof plainState>[1],
  changes: Partial<InstallState> = {},
): InstallState {
  const wordpress = { phpVersion: '8.2', wordpressVersion: '6.8.7', primaryHostname: `${name}.test` };
  return plainState(name, hostnames, { ...wordpress, ...changes });
}
