import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../clock.ts';
import type { Daemons } from '../daemon.ts';
import { type Cgroups, createCgroups } from '../daemons/cgroups.ts';
import { createDatabases } from '../daemons/databases.ts';
import { createDatabaseServer } from '../daemons/mariadb.ts';
import { redisSpec } from '../daemons/redis.ts';
import { createSupervisor } from '../daemons/supervisor.ts';
import { type LinuxLayout, linuxLayout } from '../layout.ts';
import { askFastcgi } from '../php/fastcgi.ts';
import { fpmSpec, writeFpmConfig } from '../php/fpm.ts';
import { findPhpRuntimes } from '../php/runtimes.ts';
import { runCommand } from '../run-command.ts';
import { createFirewall, type Firewall } from './firewall.ts';
import { makeHome, removeHome } from './folders.ts';
import type { SandboxedInstall } from './sandbox.ts';
import { createUnixUsers, enableExtrausers, type UnixUsers } from './unix-users.ts';

/**
 * Two websites on one machine, with everything that belongs to them but WordPress. One is in the hands of an attacker, who runs
 * any PHP and any program, and tries to reach the other one and the machine.
 */
const WORDPRESS = '6.8.7';
const SECRET = `secret-${randomBytes(8).toString('hex')}`;
const uids = { first: 391_400, last: 391_449 };
const limits = { memoryMb: 256, cpuPercent: 50, processes: 32 };
const mark = randomBytes(3).toString('hex');
const instance = `hpt${mark}`;
const log = pino({ level: 'silent' });

interface Website {
  install: SandboxedInstall;
  database: string;
}

let layout: LinuxLayout;
let users: UnixUsers;
let cgroups: Cgroups;
let daemons: Daemons;
let firewall: Firewall;
let attacker: Website;
let victim: Website;
/** Port of a service of the machine, the control plane for one, and what it was sent. */
let servicePort: number;
const servers: Server[] = [];

beforeAll(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-hostile-'), await mkdtemp('/run/hpt-h-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
  await enableExtrausers();
  users = createUnixUsers({ instance, uids });
  cgroups = createCgroups({ instance, log });
  daemons = createSupervisor({ runFolder: layout.runFolder, cgroups, log, clock: systemClock });
  firewall = createFirewall({ instance, uids, edgePorts: [], allowed: [] });
  await firewall.ensure();
  await makeMachine();
  await createDatabaseServer({ layout, daemons, log }).ensure();
  [attacker, victim] = await Promise.all([makeWebsite('attacker'), makeWebsite('victim')]);
});

afterAll(async () => {
  await daemons.stop();
  for (const server of servers) server.close();
  for (const { installId } of await users.list()) await users.remove(installId);
  await firewall.remove();
  for (const name of await cgroups.list()) await cgroups.remove(name);
  const { stdout } = await runCommand('/usr/bin/find', [
    '/sys/fs/cgroup',
    '-maxdepth',
    '2',
    '-name',
    `homeport-${instance}`,
  ]);
  for (const group of stdout.split('\n').filter(Boolean)) await rmdir(group);
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

/** What a machine has besides websites, all of it worth an attack. */
async function makeMachine(): Promise<void> {
  await mkdir(join(layout.coreOf(WORDPRESS), 'wp-includes'), { recursive: true });
  await writeFile(join(layout.coreOf(WORDPRESS), 'index.php'), '<?php echo "core";');
  await mkdir(layout.records, { mode: 0o700 });
  await writeFile(join(layout.records, 'record.json'), SECRET);
  // As unguarded as can be: it is the sandbox that has to keep them away.
  for (const path of [layout.hostSocket, layout.keysSocket]) {
    await listening({ path });
    await chmod(path, 0o777);
  }
  servicePort = await listening({ host: '127.0.0.1', port: 0 });
}

async function listening(where: { path: string } | { host: string; port: number }): Promise<number> {
  const server = createServer((connection) => {
    connection.on('error', () => {});
    connection.end(SECRET);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(where, resolve));
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function makeWebsite(kind: string): Promise<Website> {
  const id = randomUUID();
  const name = `hpt-${kind}-${mark}`;
  const [php] = await findPhpRuntimes(layout);
  if (!php) throw new Error('this machine has no PHP-FPM');
  const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
  const install = { id, name, ...ids, php, wordpressVersion: WORDPRESS };
  const database = `hp_${id.replaceAll('-', '')}`;
  await makeHome(layout, install);
  for (const path of [
    join(layout.htdocsOf(id), 'wp-config.php'),
    join(layout.privateOf(id), 'password.txt'),
  ]) {
    await writeFile(path, SECRET);
    await chown(path, install.uid, install.gid);
  }
  const databases = createDatabases({ layout });
  await databases.create(database, name);
  await databases.query(database, `CREATE TABLE secrets AS SELECT '${SECRET}' AS secret`);
  await writeFpmConfig({ layout, install, limits });
  await Promise.all([
    daemons.ensure(fpmSpec({ layout, install, limits })),
    daemons.ensure(redisSpec({ layout, install })),
  ]);
  return { install, database };
}

/** Runs PHP in a website and gives what its `return` gave. */
async function run({ install }: Website, code: string, timeoutMs = 8_000): Promise<unknown> {
  const script = join(layout.htdocsOf(install.id), `${randomUUID()}.php`);
  await writeFile(
    script,
    `<?php error_reporting(0); $socket = '${layout.mariadbSocket}'; ${HELPERS} echo json_encode((function () { ${code} })());`,
  );
  const request = { REQUEST_METHOD: 'GET', SCRIPT_NAME: '/x.php', SCRIPT_FILENAME: script };
  const answer = await askFastcgi(layout.phpSocketOf(install.id), request, { timeoutMs });
  return JSON.parse(answer.body);
}
const attack = (code: string, timeoutMs?: number) => run(attacker, code, timeoutMs);

/** Each tells the truth about what it could do, so that an attack that succeeds shows. */
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

/** A program of the attacker's: its status, and what it wrote. */
const command = (line: string) => attack(`return shell('${line.replace(/[\\']/g, '\\$&')}');`);

const isUp = async (website: Website) => (await run(website, 'return "up";')) === 'up';

describe('a website in the hands of an attacker', () => {
  it('has what is its own', async () => {
    const { install, database } = attacker;
    const redis = layout.redisSocketOf(install.id);
    expect(
      await attack(`
        $redis = new Redis(); $redis->connect('${redis}'); $redis->set('a', 'b');
        return [file_get_contents('${layout.privateOf(install.id)}/password.txt'),
          sql('${install.name}', 'SELECT secret FROM ${database}.secrets'), $redis->get('a'),
          trim(shell('id -un')[1]), file_get_contents('${layout.coreOf(WORDPRESS)}/index.php')];`),
    ).toEqual([SECRET, [[SECRET]], 'b', install.name, '<?php echo "core";']);
  });

  it('reads nothing of the other one', async () => {
    const { id } = victim.install;
    const paths = [
      join(layout.htdocsOf(id), 'wp-config.php'),
      join(layout.privateOf(id), 'password.txt'),
      layout.homeOf(id),
      layout.cacheOf(id),
      layout.runOf(id),
    ];
    for (const path of paths) {
      expect(
        await attack(`
          $link = '${layout.htdocsOf(attacker.install.id)}/link'; unlink($link); symlink('${path}', $link);
          return [file_get_contents('${path}'), scandir('${path}'), file_exists('${path}'), file_get_contents($link),
            scandir($link), shell('cat ${path} ${path}/*')[0] === 0, file_put_contents('${path}/x', 'x'),
            file_get_contents('/proc/1/root${path}'), file_get_contents('/proc/self/root/../../${path}')];`),
        path,
      ).toEqual([false, false, false, false, false, false, false, false, false]);
    }
  });

  it('does not even learn that there is another one', async () => {
    const own = attacker.install.id;
    expect(
      await attack(`
        return [scandir('${layout.installs}'), scandir('${layout.runFolder}/installs'), scandir('${layout.folder}'),
          scandir('${layout.caches}'), scandir('/srv'), file('/etc/passwd'), scandir('/var'), scandir('/home'),
          scandir('/var/lib/extrausers'), scandir('/sys')];`),
    ).toEqual([
      ['.', '..', own],
      ['.', '..', own],
      ['.', '..', 'core', 'installs'],
      false,
      ['.', '..', layout.folder.split('/').at(-1)],
      [expect.stringContaining(attacker.install.name), expect.stringContaining('nobody')],
      ['.', '..', 'tmp'],
      false,
      false,
      false,
    ]);
  });

  it('reads nothing of the machine', async () => {
    const paths = [
      '/etc/shadow',
      '/root',
      '/home',
      '/var/log',
      '/boot',
      '/proc/kcore',
      '/proc/1/environ.',
      '/dev/vda',
      '/dev/mem',
    ];
    const ours = [
      layout.records,
      join(layout.records, 'record.json'),
      layout.mariadb,
      join(layout.runFolder, 'daemons'),
    ];
    for (const path of [...paths, ...ours]) {
      expect(
        await attack(`return [file_get_contents('${path}', false, null, 0, 100), scandir('${path}')];`),
        path,
      ).toEqual([false, false]);
    }
    const environment = await command('env | cut -d= -f1 | sort');
    const names = ['HOME', 'HOMEPORT_DOC', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'USER'];
    expect(environment).toEqual([0, names.join('\n')]);
  });

  it('writes neither to WordPress nor to programs nor to what it is started with', async () => {
    const { id } = attacker.install;
    const paths = [
      join(layout.coreOf(WORDPRESS), 'index.php'),
      join(layout.coreOf(WORDPRESS), 'new.php'),
      '/usr/bin/php',
      '/usr/local/bin/new',
      '/etc/passwd',
      '/etc/homeport/passwd',
      '/etc/php/new',
      '/new',
      '/dev/new',
      join(layout.homeOf(id), 'new'),
      join(layout.mariadbRun, 'new'),
      layout.redisSocketOf(id),
    ];
    for (const path of paths) {
      expect(
        await attack(
          `return [file_put_contents('${path}', 'x'), unlink('${path}'), chmod('${path}', 0777), mkdir('${path}.d')];`,
        ),
        path,
      ).toEqual([false, false, false, false]);
    }
    expect(await readFile(join(layout.coreOf(WORDPRESS), 'index.php'), 'utf8')).toBe('<?php echo "core";');
  });

  it('exchanges neither the folders nor the sockets to which others connect', async () => {
    const { id } = attacker.install;
    const [htdocs, redis] = [layout.htdocsOf(id), layout.redisRunOf(id)];
    expect(
      await attack(`
        return [rename('${htdocs}', '${layout.privateOf(id)}/moved'), rename('${redis}', '${layout.runOf(id)}/moved'),
          unlink('${layout.redisSocketOf(id)}'), symlink('${layout.redisSocketOf(victim.install.id)}', '${redis}/link')];`),
    ).toEqual([false, false, false, false]);
  });

  it('sees no process but its own, and signals none', async () => {
    const pids = (await daemons.list()).flatMap(({ name, pid }) =>
      pid === null || name.endsWith(attacker.install.id) ? [] : [pid],
    );
    expect(pids.length).toBeGreaterThan(2);
    const targets = JSON.stringify([...pids, process.pid, process.ppid]);
    expect(
      await attack(`
        $failed = fn ($pid) => [posix_kill($pid, 0), file_get_contents("/proc/$pid/cmdline"), posix_getpgid($pid)];
        return array_values(array_unique(array_map($failed, ${targets}), SORT_REGULAR));`),
    ).toEqual([[false, false, false]]);
    const commands = await attack(`
      $names = array_map(fn ($path) => trim(file_get_contents($path)), glob('/proc/[0-9]*/comm'));
      sort($names); return array_values(array_unique($names));`);
    expect(commands).toEqual(['bwrap', `php-fpm${attacker.install.php.version}`]);
    expect(await attack('return posix_kill(1, 9);')).toBe(true);
    expect(await isUp(attacker)).toBe(true);
  });

  it('connects to no socket of another one, nor to the host’s', async () => {
    const { id } = victim.install;
    const sockets = [layout.phpSocketOf(id), layout.redisSocketOf(id), layout.hostSocket, layout.keysSocket];
    for (const socket of sockets) {
      expect(await attack(`return reach('unix://${socket}');`), socket).toBe('No such file or directory');
    }
  });

  it('gets at its own database alone', async () => {
    const own = attacker.install.name;
    const other = victim.install.name;
    const denied = expect.stringContaining('denied');
    expect(
      await attack(`
        return [sql('${other}', 'SELECT 1'), sql('root', 'SELECT 1'), sql('mysql', 'SELECT 1'),
          sql('${own}', 'SELECT * FROM ${victim.database}.secrets'), sql('${own}', 'USE ${victim.database}'),
          sql('${own}', 'SELECT * FROM mysql.global_priv'), sql('${own}', "SELECT 1 INTO OUTFILE '/tmp/x'"),
          sql('${own}', 'CREATE DATABASE hp_mine'), sql('${own}', 'DROP DATABASE ${victim.database}'),
          sql('${own}', "SELECT LOAD_FILE('/etc/passwd')"), sql('${own}', 'SHOW DATABASES')];`),
    ).toEqual([
      ...Array.from({ length: 9 }, () => denied),
      [[null]],
      [[attacker.database], ['information_schema']],
    ]);
  });

  it('connects neither to the machine nor to the metadata of a cloud', async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const addresses = [
      '127.0.0.1',
      '127.0.0.2',
      '0.0.0.0',
      '[::1]',
      '169.254.169.254',
      '10.0.0.1',
      '192.168.0.1',
      '[fd00:ec2::254]',
    ];
    for (const { address, family, internal } of own) {
      if (!internal && !address.startsWith('fe80'))
        addresses.push(family === 'IPv6' ? `[${address}]` : address);
    }
    for (const address of addresses) {
      const began = Date.now();
      expect(await attack(`return reach('tcp://${address}:${servicePort}');`), address).not.toMatch(
        /^connected|timed out/,
      );
      expect(Date.now() - began, address).toBeLessThan(4_000);
    }
    // It is the firewall that keeps it out: with another user id one gets there.
    const ask = 'use IO::Socket::INET; print IO::Socket::INET->new($ARGV[0])->getline';
    expect((await runCommand('/usr/bin/perl', ['-e', ask, `127.0.0.1:${servicePort}`])).stdout).toBe(SECRET);
  });

  it('gains no privilege', async () => {
    expect(
      await command("grep -hE '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | tr '\\t' ' '"),
    ).toEqual([
      0,
      ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((set) => `${set}: 0000000000000000`).join('\n') +
        '\nNoNewPrivs: 1',
    ]);
    const home = layout.privateOf(attacker.install.id);
    for (const line of [
      'unshare --user true',
      'unshare --mount true',
      'unshare --net true',
      'mount -t tmpfs none /tmp',
      'mount -o remount,rw /usr',
      'umount /usr',
      'chroot /tmp /bin/true',
      'nsenter --target 1 --user true',
      'setpriv --reuid=0 true',
      'su -c true',
      `mknod ${home}/disk b 254 0`,
      `chown 0:0 ${home}/password.txt`,
      'hostname elsewhere',
      'ip link set lo down',
      'dmesg',
      'sysctl -w kernel.hostname=elsewhere',
      'echo 0 > /proc/sys/kernel/yama/ptrace_scope',
    ]) {
      const answer = await command(line);
      expect(Array.isArray(answer) && answer[0], `${line}: ${answer}`).not.toBe(0);
    }
    const copied = `${home}/copied`;
    expect(await command(`cp /usr/bin/id ${copied} && chmod 6755 ${copied} && ${copied} -u`)).toEqual([
      0,
      `${attacker.install.uid}`,
    ]);
  });

  it('traces no process of another one', async () => {
    const pid = (await daemons.list()).find(({ name }) => name === `php-${victim.install.id}`)?.pid;
    // ptrace(PTRACE_ATTACH), and process_vm_readv's way in by /proc.
    const trace = `perl -e 'print syscall(101, 16, ${pid}, 0, 0), " ", open(my $m, "<", "/proc/${pid}/mem") ? 1 : 0'`;
    if (process.arch === 'x64') expect(await command(trace)).toEqual([0, '-1 0']);
  });

  it('takes no more memory than it may, wherever it puts it', async () => {
    const group = `php-${attacker.install.id}`;
    // It is killed for it, and with it perhaps what would have answered.
    const hog = (code: string) => attack(code, 20_000).catch((error: Error) => error.message);
    const gigabyte = 1 << 30;
    expect(await hog(`ini_set('memory_limit', -1); return strlen(str_repeat('x', ${gigabyte}));`)).not.toBe(
      gigabyte,
    );
    for (const place of ['/tmp', '/dev/shm']) {
      await daemons.restart(group);
      expect(await hog(`return shell('head -c 1G /dev/zero > ${place}/hog')[0];`), place).not.toBe(0);
      expect((await cgroups.usage(group))?.memoryBytes).toBeLessThanOrEqual(limits.memoryMb * 1024 * 1024);
      expect(await isUp(victim)).toBe(true);
    }
    await daemons.restart(group);
    expect(await isUp(attacker)).toBe(true);
  });

  it('starts no more processes than it may, and is ended with all of them', async () => {
    const group = `php-${attacker.install.id}`;
    const bomb = `perl -e 'while (1) { fork // last } sleep 60' > /dev/null 2>&1 &`;
    await command(bomb);
    await expect.poll(async () => (await cgroups.usage(group))?.processes).toBe(limits.processes);
    const began = Date.now();
    expect(await isUp(victim)).toBe(true);
    expect(Date.now() - began).toBeLessThan(2_000);
    await daemons.restart(group);
    expect(Date.now() - began).toBeLessThan(4_000);
    expect(await isUp(attacker)).toBe(true);
    expect((await cgroups.usage(group))?.processes).toBeLessThan(limits.processes / 2);
  });

  it('leaves nothing behind when it is removed', async () => {
    const { id, uid } = attacker.install;
    await attack(`
      $folder = '${layout.privateOf(id)}/deep'; mkdir($folder); chmod($folder, 0);
      return symlink('/', '${layout.htdocsOf(id)}/root');`);
    for (const name of [`php-${id}`, `redis-${id}`]) await daemons.remove(name);
    await removeHome(layout, id);
    await users.remove(id);
    const { stdout } = await runCommand('/usr/bin/find', [
      layout.folder,
      layout.runFolder,
      '-name',
      `*${id}*`,
    ]);
    expect(stdout).toBe('');
    expect((await cgroups.list()).filter((name) => name.includes(id))).toEqual([]);
    expect(await processesOf(uid)).toEqual([]);
    expect(await isUp(victim)).toBe(true);
  });
});

async function processesOf(uid: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const statuses = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')),
  );
  return statuses.filter(
    (status) => new RegExp(`^Uid:\\t${uid}\\t`, 'm').test(status) && !/^State:\tZ/m.test(status),
  );
}
