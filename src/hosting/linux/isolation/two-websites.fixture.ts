import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { layPrepared } from '../../../../test/host/prepared.ts';
import { systemClock } from '../../../lib/clock.ts';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { writePhpFiles } from '../../wordpress/php-files.ts';
import { type Cgroups, createCgroups } from '../daemons/cgroups.ts';
import { createDatabases } from '../daemons/databases.ts';
import { createDatabaseServer } from '../daemons/mariadb.ts';
import { redisSpec } from '../daemons/redis.ts';
import { createSupervisor } from '../daemons/supervisor.ts';
import type { Daemons, ResourceLimits } from '../machine/daemon.ts';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { fpmSpec, writeFpmFiles } from '../php/fpm.ts';
import { createCompiledCores } from '../wordpress/compiled-cores.ts';
import { createFirewall } from './firewall.ts';
import { makeHome } from './folders.ts';
import type { SandboxedInstall } from './sandbox.ts';
import { createUnixUsers, enableExtrausers, type UnixUsers } from './unix-users.ts';

export const WORDPRESS = '6.8.7';

export interface TestWebsite {
  install: SandboxedInstall;
  database: string;
}

/** Two websites on one machine, complete except for WordPress. */
export interface TwoWebsites {
  layout: LinuxLayout;
  users: UnixUsers;
  cgroups: Cgroups;
  daemons: Daemons;
  attacker: TestWebsite;
  victim: TestWebsite;
  /** Resource limits of each website. */
  limits: ResourceLimits;
  /** In everything that others must not read. */
  secret: string;
  /** Port of a service of the machine on loopback, such as the control plane's. */
  servicePort: number;
  /** Runs PHP in a website and returns its `return` value. It can use `shell`, `reach` and `sql` of {@link HELPERS}. */
  run(website: TestWebsite, code: string, timeoutMs?: number): Promise<unknown>;
  /** Ends and removes everything. */
  remove(): Promise<void>;
}

/** Each reports honestly what it could do, so that a successful attack shows. */
const HELPERS = `
function shell($command) { exec($command . ' 2>&1', $lines, $status); return [$status, implode("\\n", $lines)]; }
function reach($address) {
  $socket = stream_socket_client($address, $errno, $error, 5);
  return $socket ? 'connected: ' . fread($socket, 100) : $error;
}
function sql($user, $statement) {
  mysqli_report(MYSQLI_REPORT_OFF);
  $link = mysqli_init();
  if (!$link->real_connect('localhost', $user, '', null, 0, $GLOBALS['socket'])) return $link->connect_error;
  $result = $link->query($statement);
  return $result === false ? $link->error : ($result === true ? true : $result->fetch_all());
}
`;

/** Needs root and Debian's daemons. */
export async function createTwoWebsites(): Promise<TwoWebsites> {
  const mark = randomBytes(3).toString('hex');
  const instance = `hpt${mark}`;
  const secret = `secret-${randomBytes(8).toString('hex')}`;
  const uids = { first: 391_400, last: 391_449 };
  const limits = { memoryMb: 256, cpuPercent: 50, processes: 32 };
  const log = pino({ level: 'silent' });
  const layout = linuxLayout(await mkdtemp('/srv/hpt-hostile-'), await mkdtemp('/run/hpt-h-'));
  const users = createUnixUsers({ instance, uids });
  const cgroups = createCgroups({ instance, log });
  const daemons = createSupervisor({ runFolder: layout.runFolder, cgroups, log, clock: systemClock });
  const compiledCores = createCompiledCores({ layout, users, log });
  const firewall = createFirewall({ instance, uids, edgePorts: [], allowed: [] });
  const servers: Server[] = [];

  try {
    for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
    // Permanent, as in the setup of a machine: other hosts may need it by now.
    await enableExtrausers();
    await firewall.ensure();
    const servicePort = await makeMachine();
    await layPrepared(layout, ['mariadb']);
    await createDatabaseServer({ layout, daemons, log }).ensure();
    const [attacker, victim] = [await makeWebsite('attacker'), await makeWebsite('victim')];
    return { layout, users, cgroups, daemons, attacker, victim, limits, secret, servicePort, run, remove };
  } catch (error) {
    await remove();
    throw error;
  }

  /** Creates things on the machine that are worth an attack. Returns the port of a service. */
  async function makeMachine(): Promise<number> {
    await mkdir(join(layout.coreOf(WORDPRESS), 'wp-includes'), { recursive: true });
    await writeFile(join(layout.coreOf(WORDPRESS), 'index.php'), '<?php echo "core";');
    await writeFile(join(layout.coreOf(WORDPRESS), 'wp-load.php'), '<?php');
    await writePhpFiles(layout.coreOf(WORDPRESS));
    await mkdir(layout.records, { mode: 0o700 });
    await writeFile(join(layout.records, 'record.json'), secret);
    // Deliberately unguarded: the sandbox has to keep websites away.
    for (const path of [layout.hostSocket, layout.keysSocket]) {
      await listening({ path });
      await chmod(path, 0o777);
    }
    return listening({ host: '127.0.0.1', port: 0 });
  }

  async function listening(where: { path: string } | { host: string; port: number }): Promise<number> {
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.end(secret);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(where, resolve));
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  async function makeWebsite(kind: string): Promise<TestWebsite> {
    const id = randomUUID();
    const name = `hpt-${kind}-${mark}`;
    const [php] = await findPhpRuntimes(layout);
    if (!php) throw new Error('this machine has no PHP-FPM');
    const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
    await compiledCores.ensure(php, WORDPRESS);
    const compiledCore = await compiledCores.find(php, WORDPRESS);
    if (compiledCore === null) throw new Error('the core is not compiled');
    const install = { id, name, ...ids, php, wordpressVersion: WORDPRESS, compiledCore };
    const database = `hp_${id.replaceAll('-', '')}`;
    await makeHome(layout, install);
    for (const path of [
      join(layout.htdocsOf(id), 'wp-config.php'),
      join(layout.privateOf(id), 'password.txt'),
    ]) {
      await writeFile(path, secret);
      await chown(path, install.uid, install.gid);
    }
    const databases = createDatabases({ layout });
    await databases.create(database, name);
    await databases.query(database, `CREATE TABLE secrets AS SELECT '${secret}' AS secret`);
    await writeFpmFiles({ layout, install, limits });
    await Promise.all([
      daemons.ensure(fpmSpec({ layout, install, limits })),
      daemons.ensure(redisSpec({ layout, install })),
    ]);
    return { install, database };
  }

  /** Runs PHP in a website and returns its `return` value. */
  async function run({ install }: TestWebsite, code: string, timeoutMs = 8_000): Promise<unknown> {
    const script = join(layout.htdocsOf(install.id), `${randomUUID()}.php`);
    await writeFile(
      script,
      `<?php error_reporting(0); $socket = '${layout.mariadbSocket}'; ${HELPERS} echo json_encode((function () { ${code} })());`,
    );
    const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: '/x.php', SCRIPT_FILENAME: script };
    const answer = await askFastcgi(layout.phpSocketOf(install.id), request, { timeoutMs });
    return JSON.parse(answer.body);
  }

  async function remove(): Promise<void> {
    await daemons.stop();
    for (const server of servers) server.close();
    for (const { installId } of await users.list()) await users.remove(installId);
    await firewall.remove();
    for (const name of await cgroups.list()) await cgroups.remove(name);
    const search = ['-maxdepth', '2', '-name', `homeport-${instance}`];
    const { stdout } = await runCommand('/usr/bin/find', ['/sys/fs/cgroup', ...search]);
    for (const group of stdout.split('\n').filter(Boolean)) await rmdir(group);
    for (const folder of [layout.folder, layout.runFolder])
      await rm(folder, { recursive: true, force: true });
  }
}
