import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ClientKey, type SshHost, type Staying, startSshHost } from './ssh-host.fixture.ts';
import type { HostedLogin } from './ssh-server.ts';

const RECHECK_MS = 200;
const UNANSWERED_MS = 6_000;
/** Where other work keeps the machine busy, it takes a while. */
const SOON = { timeout: 30_000 };

let host: SshHost;
let shop: HostedLogin;
let blog: HostedLogin;
let key: ClientKey;

beforeAll(async () => {
  host = await startSshHost(391_220, { recheckMs: RECHECK_MS, unansweredMs: UNANSWERED_MS });
  [shop, blog] = [await host.install('hptsesshop'), await host.install('hptsesblog')];
  key = await host.key();
});
afterAll(() => host?.remove());

const stay = (login = shop, command = 'echo ready; sleep 300', more?: string[]): Promise<Staying> => {
  host.allow(login, key);
  return host.stay(login.install.name, key, command, more);
};
const revoke = (login: HostedLogin) => host.allowed.delete(`${login.install.name} ${key.fingerprintSha256}`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes of the install, including its sandbox, except zombies. */
async function processes({ sandbox }: HostedLogin): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    if (/^State:\s+Z/m.test(status)) continue;
    if (status.includes(`\nUid:\t${sandbox.uid}\t`)) found.push(Number(name));
  }
  return found;
}

afterEach(async () => {
  for (const login of [shop, blog]) {
    await host.server.endSessions(login.install.id);
    await expect.poll(() => processes(login), SOON).toEqual([]);
  }
});

describe('a session', () => {
  it('goes on for as long as its key may be there', async () => {
    const { child } = await stay();
    await pause(5 * RECHECK_MS);
    expect(child.exitCode).toBeNull();
    expect((await processes(shop)).length).toBeGreaterThanOrEqual(4);
  });

  it('ends with all its processes soon after its key was taken away', async () => {
    const script =
      'trap "" TERM HUP INT; (setsid nohup sleep 301 >/dev/null 2>&1 &); echo ready; while :; do sleep 1; done';
    const [plain, terminal, sftp] = await Promise.all([
      stay(shop, script),
      stay(shop, script, ['-tt']),
      stay(shop, 'echo ready; exec /usr/lib/openssh/sftp-server'),
    ]);
    const other = await stay(blog);
    revoke(shop);
    await Promise.all([plain.ended, terminal.ended, sftp.ended]);
    await expect.poll(() => processes(shop), SOON).toEqual([]);
    expect(other.child.exitCode).toBeNull();
    expect(host.lines.join('')).toContain('the key or the access was revoked');
  });

  it('ends when the key now belongs to another user', async () => {
    const { ended } = await stay();
    host.allowed.set(`${shop.install.name} ${key.fingerprintSha256}`, {
      install: shop.install,
      userId: 'another',
    });
    await ended;
  });

  it('ends when the install is taken away, and those of others go on', async () => {
    const mine = await Promise.all([stay(), stay()]);
    const other = await stay(blog);
    await host.server.endSessions(shop.install.id);
    // When it resolves, nothing holds a file of the install any more.
    expect(await processes(shop)).toEqual([]);
    await Promise.all(mine.map(({ ended }) => ended));
    expect(other.child.exitCode).toBeNull();
  });

  it('outlives a control plane that is away for a while, and ends if it stays away', async () => {
    const { child, ended } = await stay();
    host.away.is = true;
    try {
      await pause(UNANSWERED_MS / 2);
      host.away.is = false;
      await pause(4 * RECHECK_MS);
      host.away.is = true;
      await pause(UNANSWERED_MS / 2);
      // Longer than it may be, but for the answer in between.
      expect(child.exitCode).toBeNull();
      await ended;
    } finally {
      host.away.is = false;
    }
    expect(host.lines.join('')).toContain('access could not be checked for too long');
  });

  it('is forgotten when its user ends it', async () => {
    const folder = join(host.layout.runFolder, 'ssh');
    const { ended } = await stay(shop, 'echo ready');
    await ended;
    await expect.poll(() => readdir(folder), SOON).toEqual([]);
  });

  it('is looked after by the next host process if this one was killed', async () => {
    const { child, ended } = await stay();
    const next = host.another({ questions: { sshLogin: async () => null, sshRelay: async () => null } });
    await next.start();
    await ended;
    expect(child.exitCode).toBe(255);
    await next.stop();
    await host.server.start();
    expect((await host.ssh(shop.install.name, key, ['echo', 'again'])).stdout).toBe('again\n');
  });
});

it('a login fails if the install is removed at the same time', async () => {
  host.allow(shop, key);
  for (const answers of [1, 2]) {
    let calls = 0;
    const server = host.another({
      installOf: (name) => {
        calls += 1;
        return calls <= answers && name === shop.install.name ? shop : null;
      },
    });
    await host.server.stop();
    await server.start();
    // ssh tries the key once, then signs: each time it is asked.
    expect(await host.ssh(shop.install.name, key, ['id'])).toMatchObject({ stdout: '' });
    expect(calls).toBeGreaterThan(answers);
    await server.stop();
    await host.server.start();
  }
});

it('stopping the server ends every session and refuses logins', async () => {
  const { ended } = await stay();
  await host.server.stop();
  await ended;
  expect(await processes(shop)).toEqual([]);
  expect(await host.ssh(shop.install.name, key, ['id'])).toMatchObject({ status: 255, stdout: '' });
  await host.server.start();
  expect(await host.ssh(shop.install.name, key, ['id', '-u'])).toMatchObject({
    stdout: `${shop.sandbox.uid}\n`,
  });
});
