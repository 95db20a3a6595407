import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { withFileLock } from './file-lock.ts';
import { createUnixUsers, enableExtrausers, systemLogins } from './unix-users.ts';

const id = (digit: number) => `${digit}1111111-1111-4111-8111-111111111111`;
const uids = { first: 391_000, last: 391_050 };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp('/srv/hpt-users-');
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  for (const name of ['passwd', 'group', 'shadow']) await writeFile(join(folder, name), '');
});

const users = (instance = 'one', range = uids) => createUnixUsers({ instance, uids: range, folder });
const shop = { installId: id(1), name: 'shop', home: '/srv/shop', shell: '/bin/sh' };
const text = (name: string) => readFile(join(folder, name), 'utf8');

describe('Unix users of installs', () => {
  it('are created once, with a group and a shadow line that only disables passwords', async () => {
    const made = await users().ensure(shop);
    expect(made).toEqual({ uid: 391_000, gid: 391_000 });
    expect(await users().ensure(shop)).toEqual(made);
    expect(await text('passwd')).toBe(`shop:x:391000:391000:homeport/one/${id(1)}:/srv/shop:/bin/sh\n`);
    expect(await text('group')).toBe('shop:x:391000:\n');
    expect(await text('shadow')).toBe('shop:*:::::::\n');
    expect((await stat(join(folder, 'passwd'))).mode & 0o777).toBe(0o644);
    expect((await stat(join(folder, 'shadow'))).mode & 0o777).toBe(0o640);
  });

  it('give way to names that lead to another host, and come back after them', async () => {
    const made = await users().ensure(shop);
    await users().setRelays(['shop', 'blog', 'Not a name']);
    const relay = (name: string, instance = 'one') =>
      `${name}:*:391051:391051:homeport-relay/${instance}:/:/bin/sh\n`;
    const own = `shop:x:391000:391000:homeport/one/${id(1)}:/srv/shop:/bin/sh\n`;
    expect(await text('passwd')).toBe(relay('blog') + relay('shop') + own);
    expect(await users().relayId()).toBe(391_051);
    // The install keeps its user, and one of the other name can be made.
    expect([await users().ensure(shop), await users().list()]).toEqual([made, [{ ...shop, ...made }]]);
    expect(await users().isWhole({ ...shop, ...made })).toBe(true);
    await users().ensure({ ...shop, installId: id(2), name: 'blog' });
    // Another host of this machine has another id.
    await users('two').setRelays(['blog']);
    expect(await users('two').relayId()).toBe(391_052);
    await users('two').setRelays([]);
    await users().setRelays(['blog']);
    expect(await text('passwd')).toContain(relay('blog') + own);
    await users().remove(id(2), 'blog');
    await users().setRelays([]);
    expect(await text('passwd')).toBe(own);
    expect(await users().relayId()).toBe(null);
  });

  it('never get the id of names that lead to another host, also when the range of ids is widened', async () => {
    await users('one', { first: 391_000, last: 391_000 }).setRelays(['blog']);
    const wide = users('one', { first: 391_000, last: 391_002 });
    for (const [at, uid] of [391_002, 391_000].entries()) {
      const made = await wide.ensure({ ...shop, installId: id(at + 1), name: `shop-${at}` });
      expect(made.uid).toBe(uid);
    }
    // Processes with that id have keys of sessions of all websites, so it leaves the range, too.
    expect(await wide.relayId()).toBe(null);
    await wide.setRelays(['blog']);
    expect(await wide.relayId()).toBe(391_003);
  });

  it('of the system are not covered by names that lead to another host', async () => {
    const one = users();
    await one.setRelays(['blog', 'games']);
    expect([one.isRelay('blog'), one.isRelay('games')]).toEqual([true, false]);
    expect(await text('passwd')).not.toContain('games');
  });

  it('keep their id when name, home or shell changes', async () => {
    const made = await users().ensure(shop);
    await users().ensure({ ...shop, name: 'shop-two', shell: '/bin/bash' });
    expect(await users().find(id(1))).toEqual({ ...shop, ...made, name: 'shop-two', shell: '/bin/bash' });
    expect(await text('group')).toBe('shop-two:x:391000:\n');
    expect(await text('shadow')).toBe('shop-two:*:::::::\n');
  });

  it('are repaired if an interrupted run left one file without its line', async () => {
    await users().ensure(shop);
    await writeFile(join(folder, 'shadow'), '');
    await users().ensure(shop);
    expect(await text('shadow')).toBe('shop:*:::::::\n');
    await writeFile(join(folder, 'group'), '');
    await users().remove(id(1));
    expect([await text('passwd'), await text('shadow')]).toEqual(['', '']);
  });

  it('are created again with their id if only the line of the user was lost', async () => {
    const made = await users().ensure(shop);
    await writeFile(join(folder, 'passwd'), '');
    expect(await users().groupsLeft()).toEqual(['shop']);
    expect(await users().ensure({ ...shop, uid: made.uid })).toEqual(made);
    expect([await text('group'), await text('shadow')]).toEqual(['shop:x:391000:\n', 'shop:*:::::::\n']);
    expect(await users().groupsLeft()).toEqual([]);
  });

  it('leave no group behind, and one that was left does not block its name', async () => {
    await users().ensure(shop);
    await writeFile(join(folder, 'passwd'), '');
    await users().remove(id(1), 'shop');
    expect([await text('group'), await text('shadow')]).toEqual(['', '']);
    await writeFile(join(folder, 'group'), 'shop:x:391007:\nteam:x:5000:\nother:x:391009:\n');
    await users('two').ensure({ ...shop, installId: id(2), name: 'used', uid: 391_020 });
    expect(await users().groupsLeft()).toEqual(['shop', 'other']);
    expect(await users().ensure(shop)).toEqual({ uid: 391_021, gid: 391_021 });
    for (const name of ['other', 'team', 'used', 'shop']) await users().removeGroup(name);
    expect(await text('group')).toBe('team:x:5000:\nused:x:391020:\nshop:x:391021:\n');
  });

  it('are removed without touching those of other hosts and of the operator', async () => {
    const foreign = 'alice:x:5000:5000::/home/alice:/bin/sh\n';
    await writeFile(join(folder, 'passwd'), foreign);
    await users('two').ensure({ ...shop, installId: id(2), name: 'other' });
    await users().ensure(shop);
    expect((await users().list()).map(({ name }) => name)).toEqual(['shop']);
    await users().remove(id(2));
    expect((await users('two').list()).map(({ name }) => name)).toEqual(['other']);
    await users().remove(id(1));
    await users().remove(id(1));
    expect(await users().find(id(1))).toBeNull();
    expect(await text('passwd')).toContain(foreign);
    expect(await text('shadow')).toBe('other:*:::::::\n');
  });

  it.each([
    ['another install', 'shop'],
    ['a system user', 'www-data'],
    ['a system group', 'shadow'],
  ])('cannot have the name of %s', async (_who, name) => {
    await users('two').ensure({ ...shop, installId: id(2) });
    const refused = users().ensure({ ...shop, name });
    await expect(refused).rejects.toThrow(PermanentHostError);
    await expect(refused).rejects.toThrow(`already has a user or group "${name}"`);
    expect(await users().find(id(1))).toBeNull();
  });

  it.each(['Shop', '-shop', 'shop-', 'a', 'a:b', 'a\nb', '../etc', 'x'.repeat(41), ''])(
    'cannot have the name %j',
    async (name) => {
      await expect(users().ensure({ ...shop, name })).rejects.toThrow(PermanentHostError);
      expect(await text('passwd')).toBe('');
    },
  );

  it('refuse a home that would break the line, and an invalid install id', async () => {
    await expect(users().ensure({ ...shop, home: '/srv/a:b' })).rejects.toThrow(PermanentHostError);
    await expect(users().ensure({ ...shop, installId: 'x:y' })).rejects.toThrow(PermanentHostError);
  });

  it('get different ids from hosts that create them at the same time', async () => {
    const hosts = ['one', 'two', 'three'].map((instance) => users(instance));
    const made = await Promise.all(
      hosts.flatMap((host, h) =>
        [1, 2, 3, 4].map((n) => host.ensure({ ...shop, installId: id(n), name: `site-${h}-${n}` })),
      ),
    );
    expect(new Set(made.map(({ uid }) => uid)).size).toBe(12);
    expect((await text('shadow')).split('\n')).toHaveLength(13);
  });

  it('can have names of 40 characters that the system resolves', async () => {
    const switched = join(folder, 'nsswitch.conf');
    await writeFile(switched, await readFile('/etc/nsswitch.conf', 'utf8'));
    await enableExtrausers(switched);
    expect(await enableExtrausers(switched)).toBe(false);
    const name = `a${'-long'.repeat(7)}name`;
    const { uid } = await users().ensure({ ...shop, name });
    const answer = await inNamespaceWith(folder, switched, ['/usr/bin/getent', 'passwd', `${uid}`]);
    expect(name).toHaveLength(40);
    expect(answer).toBe(`${name}:x:${uid}:${uid}:homeport/one/${id(1)}:/srv/shop:/bin/sh\n`);
  });
});

/** Runs a program that sees these files in place of the system's. */
async function inNamespaceWith(users: string, nsswitch: string, command: string[]): Promise<string> {
  const places = ['--bind', users, '/var/lib/extrausers', '--ro-bind', nsswitch, '/etc/nsswitch.conf'];
  await mkdir('/var/lib/extrausers', { recursive: true });
  const { stdout } = await runCommand('/usr/bin/bwrap', [
    '--dev-bind',
    '/',
    '/',
    ...places,
    '--',
    ...command,
  ]);
  return stdout;
}

describe('system names', () => {
  it('include those of users and groups, each once', async () => {
    const logins = await systemLogins();
    expect(logins).toEqual(expect.arrayContaining(['root', 'www-data', 'shadow']));
    expect(new Set(logins).size).toBe(logins.length);
  });
});

describe('a file lock', () => {
  it('admits one holder at a time, and the next one after a holder fails', async () => {
    const path = join(folder, 'lock');
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} in`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.push(`${name} out`);
      if (name === 'a') throw new Error('failed');
    };
    const results = await Promise.allSettled([withFileLock(path, work('a')), withFileLock(path, work('b'))]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(seen).toHaveLength(4);
    expect(seen[0]?.split(' ')[0]).toBe(seen[1]?.split(' ')[0]);
  });

  it('reports that its file cannot be created', async () => {
    await expect(withFileLock('/srv/hpt-absent/lock', async () => {})).rejects.toThrow(
      '/srv/hpt-absent/lock',
    );
  });
});
