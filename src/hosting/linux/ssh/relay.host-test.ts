import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../../../../test/jobs.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { type ClientKey, type SshHost, startSshHost } from './ssh-host.fixture.ts';
import type { HostedLogin } from './ssh-server.ts';

/** The host where users connect, and the one with the installs. */
let entry: SshHost;
let serving: SshHost;
let shop: HostedLogin;
let blog: HostedLogin;
let key: ClientKey;
let blogsKey: ClientKey;

/** Keys of sessions that were passed on. */
const passes: string[] = [];

beforeAll(async () => {
  serving = await startSshHost(391_300, { recheckMs: 300, mostConnections: 3 });
  entry = await startSshHost(391_320, { recheckMs: 300 }, { ownUsers: true });
  [shop, blog] = [await serving.install('hptrelayshop'), await serving.install('hptrelayblog')];
  [key, blogsKey] = [await entry.key(), await entry.key()];
  for (const { install } of [shop, blog]) entry.elsewhere.names.add(install.name);
  await entry.setRelays();
  // As the control plane answers.
  entry.elsewhere.relay = async (name, fingerprint, pass) => {
    const login = serving.allowed.get(`${name} ${fingerprint}`);
    if (login === undefined) return null;
    if (pass !== null) {
      passes.push(pass.fingerprintSha256);
      const relayed = { fingerprintSha256: fingerprint, by: 'web1', address: pass.address };
      serving.allowed.set(`${name} ${pass.fingerprintSha256}`, { ...login, relayed });
    }
    return { ...login, host: '127.0.0.1', port: serving.server.port(), hostKeys: serving.server.hostKeys() };
  };
});
beforeEach(() => {
  serving.allow(shop, key);
  serving.allow(blog, blogsKey);
});
afterAll(async () => {
  await entry?.remove();
  await serving?.remove();
});

async function processesOf(uid: number): Promise<string[]> {
  const { stdout } = await runCommand('/usr/bin/ps', ['-eo', 'uid=,args=']);
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${uid} `));
}

const run = (command: string, more?: string[], input?: string) =>
  entry.ssh(shop.install.name, key, [command], more, input);

test('a command runs at the host of the website, with its input, outputs and status', async () => {
  const ran = await run('id -u; pwd; cat; echo wrong >&2; exit 7', [], 'sent');
  expect(ran).toEqual({
    status: 7,
    stdout: `${shop.sandbox.uid}\n${serving.layout.homeOf(shop.install.id)}\nsent`,
    stderr: 'wrong\n',
  });
  expect(await run('printf "%s|" "a  b" \'$HOME\' "-x"')).toMatchObject({
    status: 0,
    stdout: 'a  b|$HOME|-x|',
  });
  // It is no option of the program in between.
  const direct = await serving.ssh(shop.install.name, key, ['--', '-tt']);
  expect(await entry.ssh(shop.install.name, key, ['--', '-tt'])).toEqual(direct);
  const bytes = Buffer.alloc(200_000, 'homeport').toString('latin1');
  expect((await run('cat', [], bytes)).stdout === bytes).toBe(true);
});

onlyInLong(test)('a terminal has the size of the user’s, and passes on every key', async () => {
  const line = entry.sshArguments(shop.install.name, key, ['stty size; echo $TERM; exit 4'], ['-tt']);
  const quoted = line.map((argument) => `'${argument}'`).join(' ');
  const shown = await runCommand(
    '/usr/bin/script',
    ['-qec', `stty rows 33 cols 101; /usr/bin/ssh ${quoted}; echo "status $?"`, '/dev/null'],
    { environment: { TERM: 'xterm-256color' } },
  );
  expect(shown.stdout).toMatch(/33 101\s+xterm-256color\s[\s\S]*status 4/);
  const { child } = await entry.stay(shop.install.name, key, 'stty -echo; echo ready; cat', [
    ...['-tt', '-e', 'none'],
  ]);
  // With its own escape character, the program in between would answer with a list of sequences.
  child.stdin?.write('\r~?\rend\r');
  let text = '';
  for await (const part of child.stdout ?? []) {
    text += String(part);
    if (text.includes('end')) break;
  }
  expect(text).toContain('~?');
  expect(text).not.toContain('escape');
  child.kill();
});

onlyInLong(test)('a shell runs what is sent', async () => {
  const ran = await entry.ssh(shop.install.name, key, [], ['-T'], 'echo shell; exit 3\n');
  expect(ran).toMatchObject({ status: 3, stdout: 'shell\n' });
});

onlyInLong(test)('SFTP and scp carry files both ways', async () => {
  const clients = join(entry.layout.folder, 'clients');
  const bytes = Buffer.alloc(1_000_000, 'homeport');
  await writeFile(join(clients, 'up.bin'), bytes);
  const { status } = await entry.sftp(
    shop.install.name,
    key,
    'put up.bin htdocs/up.bin\nget htdocs/up.bin down.bin\n',
  );
  expect(status).toBe(0);
  expect(await readFile(join(clients, 'down.bin'))).toEqual(bytes);
  expect(await readFile(join(serving.layout.htdocsOf(shop.install.id), 'up.bin'))).toEqual(bytes);
});

test('no one is let in by another key, or to another install', async () => {
  expect((await entry.ssh(shop.install.name, blogsKey, ['true'])).status).toBe(255);
  expect((await entry.ssh(shop.install.name, await entry.key(), ['true'])).status).toBe(255);
  expect((await entry.ssh(blog.install.name, blogsKey, ['id -u'])).stdout).toBe(`${blog.sandbox.uid}\n`);
});

onlyInLong(test)('nothing is forwarded', async () => {
  const { port } = serving.server;
  expect((await run('true', ['-W', `127.0.0.1:${port()}`])).status).toBe(255);
  const back = await run('true', ['-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:1']);
  expect(back.status).toBe(255);
});

test('the log of the serving host has the address of the user, and the key of the session goes', async () => {
  expect((await run('true')).status).toBe(0);
  const started = serving.lines
    .map((line): unknown => JSON.parse(line))
    .filter((line) => Object(line).msg === 'SSH session started');
  expect(started.at(-1)).toMatchObject({
    ...{ install: shop.install.name, fingerprint: key.fingerprintSha256 },
    ...{ address: '127.0.0.1', via: 'web1' },
  });
  // Each session has a key of its own, which its user cannot read.
  expect(new Set(passes).size).toBe(passes.length);
  expect((await run(`ls ${entry.layout.runFolder}`)).status).not.toBe(0);
});

onlyInLong(test)('a session ends when the user loses access', async () => {
  const { ended } = await entry.stay(shop.install.name, key, 'echo ready; sleep 60');
  serving.allowed.delete(`${shop.install.name} ${key.fingerprintSha256}`);
  await ended;
});

test('a command ends at the host of the website when the client is gone', async () => {
  const { child, ended } = await entry.stay(shop.install.name, key, 'echo ready; exec sleep 60');
  expect(await processesOf(shop.sandbox.uid)).not.toEqual([]);
  child.kill('SIGKILL');
  await ended;
  await until(async () => expect(await processesOf(shop.sandbox.uid)).toEqual([]));
});

test('a session ends when the host that passed it on is given up', async () => {
  const { ended } = await entry.stay(shop.install.name, key, 'echo ready; sleep 60');
  serving.elsewhere.lost.add('web1');
  await ended;
  serving.elsewhere.lost.clear();
});

test('a session whose machine goes away ends with a sentence', async () => {
  const running = run('echo ready; sleep 60');
  await until(async () => {
    const folder = join(serving.layout.runFolder, 'ssh');
    expect(await readdir(folder)).not.toEqual([]);
    expect(serving.lines.at(-1)).toContain('SSH session started');
  });
  await serving.server.endSessions(shop.install.id);
  const ended = await running;
  expect(ended.status).toBe(255);
  expect(ended.stderr).toContain('If the website is moving, connect again in a minute.');
});

onlyInLong(test)('the limit of connections of an install counts those of all hosts together', async () => {
  const children = [];
  for (let turn = 0; turn < 2; turn++) {
    children.push(await entry.stay(shop.install.name, key, 'echo ready; sleep 60'));
  }
  children.push(await serving.stay(shop.install.name, key, 'echo ready; sleep 60'));
  expect(children.map(({ firstLine }) => firstLine)).toEqual(['ready', 'ready', 'ready']);
  expect((await run('true')).status).toBe(255);
  for (const { child, ended } of children) {
    child.kill();
    await ended;
  }
  await until(async () => expect((await run('true')).status).toBe(0));
});

onlyInLong(test)('a name that leads nowhere any more lets no one in, and its user is gone', async () => {
  entry.elsewhere.names.delete(blog.install.name);
  await entry.setRelays();
  expect((await entry.ssh(blog.install.name, blogsKey, ['true'])).status).toBe(255);
  const passwd = await readFile(join(entry.layout.folder, 'users', 'passwd'), 'utf8');
  expect(passwd.split('\n').filter(Boolean)).toHaveLength(1);
});

test('what sshd says of its configuration is nothing', async () => {
  const { stderr } = await runCommand('/usr/sbin/sshd', ['-t', '-f', join(entry.layout.ssh, 'sshd_config')]);
  expect(stderr).toBe('');
});
