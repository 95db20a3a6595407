import { readFile } from 'node:fs/promises';
import ssh2 from 'ssh2';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { DaemonSpec } from '../machine/daemon.ts';
import { type ClientKey, type SshHost, startSshHost } from './ssh-host.fixture.ts';
import type { HostedLogin } from './ssh-server.ts';

const MOST = 3;
const SOON = { timeout: 30_000 };

let host: SshHost;
let shop: HostedLogin;
let blog: HostedLogin;
let key: ClientKey;
const open: (() => unknown)[] = [];

beforeAll(async () => {
  host = await startSshHost(391_240, { recheckMs: 500, mostConnections: MOST });
  [shop, blog] = [await host.install('hptconshop'), await host.install('hptconblog')];
  key = await host.key();
  for (const login of [shop, blog]) host.allow(login, key);
});
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  for (const { install } of [shop, blog]) await host.server.endSessions(install.id);
});
afterAll(() => host?.remove());

async function idle(login = shop) {
  const child = await host.idle(login.install.name, key);
  if (child !== null) open.push(() => child.kill());
  return child;
}

it('an install has no more connections than it may, sessions or none, and others have theirs', async () => {
  const [first] = [await idle(), await idle(), await idle()];
  expect(await idle()).toBeNull();
  expect((await host.ssh(shop.install.name, key, ['id'])).stderr).toContain('Permission denied');
  expect(host.lines.join('')).toContain('the install has too many connections');
  expect(await idle(blog)).not.toBeNull();
  first?.kill();
  await expect
    .poll(async () => (await host.ssh(shop.install.name, key, ['echo', 'in'])).stdout, SOON)
    .toBe('in\n');
});

it('those that sign in at the same time are not more for long', async () => {
  const children = await Promise.all(Array.from({ length: 8 }, () => idle()));
  const living = () => children.filter((child) => child !== null && child.exitCode === null).length;
  await expect.poll(living, SOON).toBe(MOST);
});

it('offering a public key without proof does not use up the limit', async () => {
  const publicKey = await readFile(`${key.file}.pub`, 'utf8');
  const identity = ssh2.utils.parseKey(publicKey);
  if (identity instanceof Error) throw identity;
  const identities: ssh2.ParsedKey[] = [identity];
  let shown = 0;
  class Silent extends ssh2.BaseAgent {
    getIdentities(done: (error?: Error | null, keys?: ssh2.ParsedKey[]) => void) {
      done(null, identities);
    }
    sign() {
      shown += 1;
    }
  }
  for (let one = 0; one < MOST + 1; one += 1) {
    const client = new ssh2.Client();
    client.on('error', () => {});
    open.push(() => client.destroy());
    client.connect({
      host: '127.0.0.1',
      port: host.server.port(),
      username: shop.install.name,
      agent: new Silent(),
    });
  }
  await expect.poll(() => shown, SOON).toBe(MOST + 1);
  expect(await idle()).not.toBeNull();
});

it('all connections together are under limits', async () => {
  const specs: DaemonSpec[] = [];
  const daemons = { ...host.daemons, ensure: async (spec: DaemonSpec) => void specs.push(spec) };
  await host.another({ daemons }).start();
  expect(specs[0]?.limits).toMatchObject({ memoryMb: 1_536, processes: 1_024 });
  expect((await host.cgroups.usage('sshd'))?.processes).toBeGreaterThan(0);
});
