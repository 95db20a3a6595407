import { once } from 'node:events';
import { chown, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { type DaemonsMachine, startDaemonsMachine } from './daemons-machine.fixture.ts';
import { flushRedis, redisSpec } from './redis.ts';

let machine: DaemonsMachine;
let shop: SandboxedInstall;
let blog: SandboxedInstall;

beforeAll(async () => {
  machine = await startDaemonsMachine();
  [shop, blog] = await Promise.all([machine.newInstall('shop'), machine.newInstall('blog')]);
  await Promise.all([shop, blog].map((install) => machine.daemons.ensure(specOf(install))));
});

afterAll(() => machine.stop());

const specOf = (install: SandboxedInstall) => redisSpec({ layout: machine.layout, install, memoryMb: 8 });
const socketOf = ({ id }: SandboxedInstall) => machine.layout.redisSocketOf(id);

/** Sends commands as root, one per line, and returns the answer's lines, at least as many as given. */
async function ask(install: SandboxedInstall, command: string, answers = 1): Promise<string[]> {
  const connection = connect(socketOf(install));
  connection.write(`${command}\r\n`);
  let received = '';
  for await (const piece of connection.setEncoding('latin1')) {
    received += piece;
    if (received.split('\r\n').length > answers) break;
  }
  return received.split('\r\n').slice(0, -1);
}

test('stores values of this install only', async () => {
  expect(await ask(shop, 'SET greeting hello')).toEqual(['+OK']);
  expect(await ask(shop, 'GET greeting', 2)).toEqual(['$5', 'hello']);
  expect(await ask(blog, 'GET greeting')).toEqual(['$-1']);
});

test('is flushed at once, without affecting another', async () => {
  await ask(shop, 'SET one 1');
  await ask(blog, 'SET one 1');
  await flushRedis(socketOf(shop));
  expect(await ask(shop, 'DBSIZE')).toEqual([':0']);
  expect(await ask(blog, 'DBSIZE')).toEqual([':1']);
});

test('refuses commands that reach beyond stored values', async () => {
  const commands = [
    'CONFIG GET *',
    'EVAL return 0',
    'MODULE LIST',
    'DEBUG JMAP',
    'SHUTDOWN',
    'REPLICAOF h 1',
    'SAVE',
    'MIGRATE',
    'FUNCTION LIST',
    'ACL LIST',
    'SCRIPT FLUSH',
    'SLAVEOF h 1',
    'FCALL f 0',
  ];
  for (const command of commands) {
    expect((await ask(shop, command))[0]).toMatch(/^-ERR unknown command/);
  }
  expect((await ask(shop, 'SELECT 1'))[0]).toMatch(/^-ERR DB index is out of range/);
});

test('evicts older values when its memory is full', async () => {
  // 150 times 100 kB, but only 8 MB fit.
  for (let key = 0; key < 150; key++) {
    expect(await ask(shop, `SETRANGE big:${key} 99999 x`)).toEqual([':100000']);
  }
  expect(await ask(shop, 'EXISTS big:149')).toEqual([':1']);
  const [size = ''] = await ask(shop, 'DBSIZE');
  expect(Number(size.slice(1))).toBeLessThan(81);
  await flushRedis(socketOf(shop));
});

test('is reachable only by its install, and sees no network, files or other processes', async () => {
  const php =
    '$r = new Redis(); try { $r->connect($argv[1]); echo $r->ping(); } catch (RedisException $e) { echo $e->getMessage(); }';
  const asUser = ({ uid, gid }: SandboxedInstall, ...command: string[]) =>
    runCommand('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...command]);
  expect((await asUser(shop, 'php', '-r', php, socketOf(shop))).stdout).toBe('1');
  expect((await asUser(blog, 'php', '-r', php, socketOf(shop))).stdout).toBe('Permission denied');

  const [status] = (await machine.daemons.list()).filter(({ name }) => name === `redis-${shop.id}`);
  const children = await runCommand('pgrep', ['--parent', String(status?.pid)]);
  const inside = [
    '--target',
    children.stdout.trim(),
    '--mount',
    '--net',
    '--pid',
    '--user',
    '--preserve-credentials',
  ];
  const look = 'ls / /root /home /srv /etc; ls /run/*/*; cat /proc/net/dev; ls -d /proc/[0-9]*';
  const { stdout } = await runCommand('nsenter', [...inside, '/usr/bin/sh', '-c', look]).catch(
    (error) => error,
  );
  expect(stdout).not.toMatch(/passwd|shadow|eth0|htdocs|mariadb|root|home/);
  expect(stdout).toMatch(/lo:/);
});

test('flushing succeeds if Redis does not run', async () => {
  const away = await machine.newInstall('away');
  await flushRedis(socketOf(away));
});

test('flushing follows no link and uses no foreign socket', async () => {
  await ask(blog, 'SET kept 1');
  const own = socketOf(shop);
  await rename(own, `${own}.away`);
  await symlink(socketOf(blog), own);
  await expect(flushRedis(own)).rejects.toThrow("is not the socket of the install's Redis");
  await rm(own);
  await writeFile(own, 'no socket');
  await expect(flushRedis(own)).rejects.toThrow("is not the socket of the install's Redis");
  await rename(`${own}.away`, own);

  const folder = dirname(own);
  await rename(folder, `${folder}.away`);
  await symlink(dirname(socketOf(blog)), folder);
  await expect(flushRedis(own)).rejects.toThrow("is not the socket of the install's Redis");
  await rm(folder);
  await rename(`${folder}.away`, folder);
  expect(await ask(blog, 'EXISTS kept')).toEqual([':1']);
  await flushRedis(own);
});

test('an impostor that answers nothing or too much does not block the host', async () => {
  const liar = await machine.newInstall('liar');
  const answers = ['', 'x'.repeat(100_000), '-ERR no\r\n', null];
  for (const answer of answers) {
    const server = createServer((connection) => {
      connection.on('error', () => {});
      connection.resume();
      if (answer !== null) connection.end(answer);
    });
    server.listen(socketOf(liar));
    await once(server, 'listening');
    await chown(socketOf(liar), liar.uid, liar.gid);
    await expect(flushRedis(socketOf(liar))).rejects.toThrow(/Redis (closed|flush failed|does not answer)/);
    server.close();
    await once(server, 'close');
  }
});

test('restarts after it was killed, without its values', async () => {
  await ask(shop, 'SET lost 1');
  await machine.daemons.restart(`redis-${shop.id}`);
  expect(await ask(shop, 'EXISTS lost')).toEqual([':0']);
});
