import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isLong, onlyInLong } from '../../../../test/rounds.ts';
import { type S3Server, startS3Server } from '../../../../test/servers/s3-server.ts';
import { mountSmallDisk } from '../../../../test/servers/small-disk.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { REPOSITORY_MARK } from '../../contract/moves.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';
import { UnseenPlaceError } from './place-mark.ts';

let machine: BackupMachine;
let server: S3Server;
let shop: HostedInstall;
let blog: HostedInstall;

const credentials = { accessKeyId: 'an-id', secretAccessKey: 'a-secret-of-the-tests' };

beforeAll(async () => {
  machine = await startBackupMachine();
  server = await startS3Server({ buckets: ['backups'] });
  shop = await machine.newWebsite();
  blog = await machine.newWebsite();
  machine.put(shop, 'photo.jpg', randomBytes(700_000));
});
afterAll(async () => {
  await server?.close();
  await machine?.stop();
});
beforeEach(() => {
  for (const folder of [machine.layout.backups, machine.layout.backupPlaces]) {
    rmSync(folder, { recursive: true, force: true });
  }
  mkdirSync(machine.layout.backups);
});

const bucket = (name: string, at = server) => ({ address: `s3:${at.url}/backups/${name}`, credentials });
const folder = (path: string) => ({ address: path, credentials: null });
const newFolder = () => join(machine.layout.folder, `moved-${randomUUID()}`);

/** Moves everything, as the command does. */
const move = (
  backups: Backups,
  to: { address: string; credentials: typeof credentials | null } | null,
  more: Partial<Parameters<Backups['move']>[0]> & {
    signal?: AbortSignal;
    report?: (done: number) => void;
  } = {},
) => {
  const { signal, report, ...rest } = more;
  const installs = [shop.ref, blog.ref];
  return backups.move(
    { installs, to, from: null, installsHere: async () => installs, ...rest },
    signal,
    report,
  );
};

async function backUp(backups: Backups, ...of: HostedInstall[]): Promise<string[]> {
  const ids = of.map(() => randomUUID());
  for (const [i, install] of of.entries()) await backups.snapshot(install, ids[i] ?? '');
  return ids;
}

async function restoreAll(backups: Backups, install: HostedInstall, ids: string[]): Promise<void> {
  for (const id of ids) await backups.restore(install, id, { from: install.ref });
}

test('a changed setting does not hide the backups: they go on in the former place until told', async () => {
  const [one = ''] = await backUp(machine.backupsWith(), shop);
  const changed = machine.backupsWith({ repository: newFolder() });
  await restoreAll(changed, shop, [one]);
  const [two = ''] = await backUp(changed, shop);
  expect(await changed.held(shop.ref)).toEqual(expect.arrayContaining([one, two]));
  const report = await changed.places();
  expect(report).toMatchObject({
    current: machine.layout.backups,
    refused: { address: report.configured, held: { backups: 1, installs: 1 } },
  });
  expect(existsSync(report.configured)).toBe(false);

  // The way back needs nothing but the setting.
  expect(await machine.backupsWith().places()).toMatchObject({ refused: null });

  // One way out: without a place, to the one in the settings. Here it is interrupted once both are copied.
  const interrupt = new AbortController();
  const stopAt = (done: number) => (done === 2 ? interrupt.abort(new Error('interrupted')) : undefined);
  const moving = move(changed, null, { signal: interrupt.signal, report: stopAt });
  await expect(moving).rejects.toThrow('interrupted');
  expect(await changed.places()).toMatchObject({ current: machine.layout.backups, waiting: [] });
  expect(snapshotsIn(report.configured, shop)).toHaveLength(2);
  await changed.discard(shop.ref, one);
  expect(await move(changed, null)).toEqual({ place: report.configured, installs: 1, backups: 1, copied: 0 });
  expect(await changed.places()).toMatchObject({ refused: null, current: report.configured });
  expect(snapshotsIn(report.configured, shop)).toHaveLength(1);
  expect(await changed.held(shop.ref)).toEqual([two]);
  await restoreAll(changed, shop, [two]);
});

onlyInLong(test)('the other way out leaves them behind, where they stay', async () => {
  const [one = ''] = await backUp(machine.backupsWith(), shop);
  const changed = machine.backupsWith({ repository: newFolder() });
  expect(await changed.acceptPlace()).toMatchObject({ refused: null, former: [machine.layout.backups] });
  expect(await changed.held(shop.ref)).toEqual([]);
  await expect(changed.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
  const [two = ''] = await backUp(changed, shop);
  // They can still be merged later.
  await move(changed, null, { from: folder(machine.layout.backups) });
  expect(new Set(await changed.held(shop.ref))).toEqual(new Set([one, two]));
  await restoreAll(changed, shop, [one, two]);
});

test('a changed setting is followed at once while there are no backups', async () => {
  await machine.backupsWith().places();
  const place = newFolder();
  expect(await machine.backupsWith({ repository: place }).places()).toMatchObject({
    current: place,
    refused: null,
  });
});

onlyInLong(test)(
  'backups move from a folder to S3, from there to a folder, and keep their content',
  async () => {
    const backups = machine.backupsWith();
    const ids = await backUp(backups, shop, shop);
    const [post = ''] = await backUp(backups, blog);
    const told: [number, number | null][] = [];
    const moved = await backups.move(
      { installs: [shop.ref, blog.ref], to: bucket('a'), from: null, installsHere: async () => [] },
      undefined,
      (done, total) => void told.push([done, total]),
    );
    expect(moved).toEqual({ place: bucket('a').address, installs: 2, backups: 3, copied: 3 });
    expect(told.at(-1)).toEqual([3, 3]);
    expect(told).toContainEqual([1, 3]);
    await restoreAll(backups, shop, ids);
    // The former ones stay, and the settings still name their place.
    expect(readdirSync(join(machine.repositoryOf(shop), 'snapshots'))).toHaveLength(2);
    const restarted = machine.backupsWith();
    expect(await restarted.places()).toMatchObject({
      ...{ current: bucket('a').address, configured: machine.layout.backups, refused: null },
      ...{ former: [machine.layout.backups], waiting: [] },
    });
    await restoreAll(restarted, blog, [post]);

    // Equal content shares its data with what was copied.
    const before = server.requests.length;
    await backUp(restarted, shop);
    const stored = server.requests
      .slice(before)
      .filter(({ method, path }) => method === 'PUT' && path.includes('/data/'));
    expect(stored.length).toBeLessThan(4);

    await move(restarted, bucket('b'));
    const place = newFolder();
    expect(await move(restarted, folder(place))).toMatchObject({ place, installs: 2, backups: 4 });
    await restoreAll(restarted, shop, ids);
    await restoreAll(restarted, blog, [post]);
    expect(readdirSync(join(place, shop.ref.id, 'snapshots'))).toHaveLength(3);
  },
);

onlyInLong(test)(
  'backups move between buckets with different keys, each of which sees its own key only',
  async () => {
    const backups = machine.backupsWith();
    const ids = await backUp(backups, shop, shop);
    await move(backups, bucket('c'));
    const other = await startS3Server({ buckets: ['backups'] });
    try {
      const before = server.requests.length;
      const credentialsThere = { accessKeyId: 'another-id', secretAccessKey: 'another-secret' };
      const there = { address: `s3:${other.url}/backups/d`, credentials: credentialsThere };
      expect(await move(backups, there)).toEqual({
        place: there.address,
        installs: 1,
        backups: 2,
        copied: 2,
      });
      await restoreAll(backups, shop, ids);
      expect(new Set(other.requests.map(({ keyId }) => keyId))).toEqual(new Set(['another-id']));
      expect(new Set(server.requests.slice(before).map(({ keyId }) => keyId))).toEqual(new Set(['an-id']));
      const left = join(machine.layout.scratch, 'moved-backups');
      expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
    } finally {
      await other.close();
    }
  },
);

test('a removed website takes no repository along that another machine has in a former place', async () => {
  const backups = machine.backupsWith();
  await backUp(backups, shop, blog);
  await move(backups, folder(newFolder()));
  const [kept, removed] = [shop, blog].map((install) => join(machine.repositoryOf(install), 'config'));
  // The other machine has the website of the shop by now.
  writeFileSync(join(machine.repositoryOf(shop), REPOSITORY_MARK), 'word');
  await backups.removeAll(shop.ref.id);
  await backups.removeAll(blog.ref.id);
  expect(existsSync(kept ?? '')).toBe(true);
  expect(existsSync(removed ?? '')).toBe(false);
  rmSync(machine.repositoryOf(shop), { recursive: true });
});

onlyInLong(test)(
  'the former repositories are deleted when told, and only if nothing is lost by it',
  async () => {
    const backups = machine.backupsWith();
    const ids = await backUp(backups, shop);
    await move(backups, folder(newFolder()));
    const listed = (backupIds: string[]) => [{ install: shop.ref, backupIds }];
    await expect(backups.forgetFormer(listed([...ids, randomUUID()]))).rejects.toThrow(/lacks 1 backup of/);
    expect(existsSync(machine.repositoryOf(shop))).toBe(true);
    expect(await backups.forgetFormer(listed(ids))).toBe(1);
    expect(existsSync(machine.repositoryOf(shop))).toBe(false);
    expect((await backups.places()).former).toEqual([]);
    await restoreAll(backups, shop, ids);
  },
);

onlyInLong(test)('a former place that is the present one by another name is not deleted', async () => {
  const backups = machine.backupsWith();
  const ids = await backUp(backups, shop);
  const place = newFolder();
  await move(backups, folder(place));
  // The operator keeps the former path for other programs.
  rmSync(machine.layout.backups, { recursive: true });
  symlinkSync(place, machine.layout.backups);
  expect(await backups.forgetFormer([{ install: shop.ref, backupIds: ids }])).toBe(0);
  expect((await backups.places()).former).toEqual([]);
  await restoreAll(backups, shop, ids);
  expect(readdirSync(join(place, shop.ref.id)).filter((name) => name.includes('mark'))).toEqual([]);
});

onlyInLong(test)(
  'the host knows the keys of its places, so a move is continued and taken back by the address',
  async () => {
    const backups = machine.backupsWith();
    const ids = await backUp(backups, shop);
    const there = bucket('known');
    await move(backups, there);
    await move(backups, { ...there, credentials: null });
    await move(backups, folder(newFolder()));
    expect(await move(backups, { ...there, credentials: null })).toMatchObject({
      place: there.address,
      backups: 1,
    });
    await restoreAll(backups, shop, ids);
  },
);

onlyInLong(test)('an interrupted move has lost nothing, and continues', async () => {
  const backups = machine.backupsWith();
  const ids = await backUp(backups, shop, shop, blog);
  const [post = ''] = ids.splice(2);
  const place = newFolder();
  const interrupt = new AbortController();
  const report = () => interrupt.abort(new Error('interrupted'));
  await expect(move(backups, folder(place), { signal: interrupt.signal, report })).rejects.toThrow(
    'interrupted',
  );
  expect(await backups.places()).toMatchObject({ current: machine.layout.backups, waiting: [] });
  const [three = ''] = await backUp(backups, shop);

  // The next one ends between the two switches.
  let asked = 0;
  const dying = machine.backupsWith({
    async passwordOf(id) {
      asked += id === blog.ref.id ? 1 : 0;
      // Copying and checking before; then after the switch.
      if (asked === 3) throw new Error('the host was killed');
      return `password of ${id}`;
    },
  });
  await expect(move(dying, folder(place))).rejects.toThrow(
    /stopped at the backups of .*the host was killed.*continues it/,
  );
  const restarted = machine.backupsWith();
  expect(await restarted.places()).toMatchObject({ current: place, waiting: [blog.ref.id] });
  await restoreAll(restarted, shop, [...ids, three]);
  await restoreAll(restarted, blog, [post]);
  const [comment = ''] = await backUp(restarted, blog);
  const [four = ''] = await backUp(restarted, shop);
  expect(await move(restarted, folder(place))).toMatchObject({ installs: 2, backups: 6 });
  expect(await restarted.places()).toMatchObject({ current: place, waiting: [] });
  await restoreAll(restarted, blog, [post, comment]);
  await restoreAll(restarted, shop, [...ids, three, four]);
});

test('a disk that is not mounted is no empty place: nothing is made, deleted, moved or forgotten there', async () => {
  const backups = machine.backupsWith();
  const [one = ''] = await backUp(backups, shop);
  const disk = `${machine.layout.backups}-disk`;
  const mount = () => {
    rmSync(machine.layout.backups, { recursive: true });
    renameSync(disk, machine.layout.backups);
  };
  renameSync(machine.layout.backups, disk);
  mkdirSync(machine.layout.backups);
  await expect(backUp(backups, shop)).rejects.toThrow('The place of the backups is not available.');
  await expect(backups.held(shop.ref)).rejects.toThrow(UnseenPlaceError);
  await expect(backups.discard(shop.ref, one)).rejects.toThrow(UnseenPlaceError);
  await expect(backups.removeAll(shop.ref.id)).rejects.toThrow(UnseenPlaceError);
  await expect(move(backups, folder(newFolder()))).rejects.toThrow(
    /may not be mounted\. Nothing was changed/,
  );
  expect(readdirSync(machine.layout.backups)).toEqual([]);
  expect(await machine.backupsWith({ repository: newFolder() }).places()).toMatchObject({
    current: machine.layout.backups,
    refused: { held: null },
  });
  mount();
  await restoreAll(backups, shop, [one]);
  if (!isLong) return;

  // The same for the former place, once a move has emptied it of use.
  const place = newFolder();
  await move(backups, folder(place));
  renameSync(machine.layout.backups, disk);
  mkdirSync(machine.layout.backups);
  const forgetting = backups.forgetFormer([{ install: shop.ref, backupIds: [one] }]);
  await expect(forgetting).rejects.toThrow(/cannot be seen: .* Nothing was deleted/);
  mount();
  const more = [{ install: shop.ref, backupIds: [one, randomUUID()] }];
  await expect(backups.forgetFormer(more)).rejects.toThrow(/lacks 1 backup of/);
  expect(existsSync(machine.repositoryOf(shop))).toBe(true);
  expect(await backups.forgetFormer([{ install: shop.ref, backupIds: [one] }])).toBe(1);
  expect(existsSync(machine.repositoryOf(shop))).toBe(false);
  // The operator knows that the backups are lost.
  rmSync(place, { recursive: true });
  expect((await backups.places()).unseen).toHaveLength(1);
  const followed = machine.backupsWith({ repository: place });
  await followed.acceptPlace();
  expect(await followed.held(shop.ref)).toEqual([]);
  await backUp(followed, shop);
});

onlyInLong(test)(
  'what is deleted during a move is deleted in its target, also if the move is killed',
  async () => {
    const backups = machine.backupsWith();
    const [one = '', two = ''] = await backUp(backups, shop, shop);
    await backUp(backups, blog);
    const place = newFolder();
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('./moving-process.fixture.ts', import.meta.url)),
        JSON.stringify({
          ...{ folder: machine.layout.folder, runFolder: machine.layout.runFolder },
          ...{ installs: [shop.ref, blog.ref], to: folder(place), from: null },
        }),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    for await (const line of createInterface({ input: child.stdout })) {
      // Both backups of the first are copied; the second is not.
      if (line === '2') child.kill('SIGKILL');
      expect(line).not.toBe('moved');
    }
    expect(snapshotsIn(place, shop)).toHaveLength(2);
    const restarted = machine.backupsWith();
    expect(await restarted.places()).toMatchObject({ current: machine.layout.backups, waiting: [] });
    await restarted.discard(shop.ref, one);
    await restarted.removeAll(blog.ref.id);
    const [three = ''] = await backUp(restarted, shop);

    // Another deletion while the move goes on, of a copied one.
    let meanwhile: Promise<void> | undefined;
    const report = () => {
      meanwhile ??= restarted.discard(shop.ref, two);
    };
    await move(restarted, folder(place), { installs: [shop.ref], report });
    await meanwhile;
    expect(await restarted.held(shop.ref)).toEqual([three]);
    expect(snapshotsIn(place, shop)).toHaveLength(1);
    expect(existsSync(join(place, blog.ref.id))).toBe(false);
    await restoreAll(restarted, shop, [three]);
  },
);

onlyInLong(test)(
  'an install that is deleted while its backups are moved leaves nothing in the target',
  async () => {
    const backups = machine.backupsWith();
    await backUp(backups, shop, blog);
    const place = newFolder();
    let meanwhile: Promise<void> | undefined;
    await move(backups, folder(place), {
      report: () => {
        meanwhile ??= backups.removeAll(shop.ref.id);
      },
    });
    await meanwhile;
    expect(readdirSync(place).sort()).toEqual([blog.ref.id, 'homeport-backups'].sort());
    expect(readdirSync(machine.layout.backups)).not.toContain(shop.ref.id);
  },
);

const snapshotsIn = (place: string, { ref }: HostedInstall) => readdirSync(join(place, ref.id, 'snapshots'));

onlyInLong(test)('backups made during a move are moved too, and none is refused', async () => {
  const backups = machine.backupsWith();
  const ids = await backUp(backups, shop, blog);
  let meanwhile: Promise<string[]> | undefined;
  const report = () => {
    meanwhile ??= backUp(backups, shop, blog);
  };
  const place = newFolder();
  await move(backups, folder(place), { report });
  const added = await meanwhile;
  for (const [i, install] of [shop, blog].entries()) {
    const wanted = [ids[i] ?? '', added?.[i] ?? ''];
    expect(new Set(await backups.held(install.ref))).toEqual(new Set(wanted));
    await restoreAll(backups, install, wanted);
  }
});

onlyInLong(test)(
  'an install of the moment of the switch keeps its backups, though no one listed it',
  async () => {
    const backups = machine.backupsWith();
    const [one = ''] = await backUp(backups, shop);
    const [post = ''] = await backUp(backups, blog);
    const place = newFolder();
    await move(backups, folder(place), { installs: [shop.ref] });
    await restoreAll(backups, shop, [one]);
    await restoreAll(backups, blog, [post]);
  },
);

test('an earlier place without backups of the host is refused, and not remembered', async () => {
  const backups = machine.backupsWith();
  await backUp(backups, shop);
  const moving = move(backups, null, { from: folder(newFolder()) });
  await expect(moving).rejects.toThrow(/has no backups of the installs of this host\. Nothing was changed/);
  expect((await backups.places()).former).toEqual([]);
});

onlyInLong(test)('a place that cannot take them changes nothing', async () => {
  const backups = machine.backupsWith();
  const ids = await backUp(backups, shop);
  const refused = async (to: Parameters<typeof move>[1], message: RegExp) => {
    const moving = move(backups, to);
    await expect(moving).rejects.toThrow(message);
    await moving.catch((error: unknown) => expect(error).toBeInstanceOf(PermanentHostError));
    expect(await backups.places()).toMatchObject({
      current: machine.layout.backups,
      former: [],
      waiting: [],
    });
  };
  // A repository of another sealing key.
  const foreign = newFolder();
  const foreigners = machine.backupsWith({ passwordOf: async () => 'another', layout: elsewhere(foreign) });
  await backUp(foreigners, shop);
  await refused(folder(foreign), /another sealing key opens/);
  expect(readdirSync(join(foreign, shop.ref.id, 'snapshots'))).toHaveLength(1);
  // Data of something else, or of a repository that is being copied there.
  const half = newFolder();
  mkdirSync(join(half, shop.ref.id, 'data'), { recursive: true });
  writeFileSync(join(half, shop.ref.id, 'data', 'precious'), 'x');
  await refused(folder(half), /data, but no file "config"/);
  expect(readdirSync(join(half, shop.ref.id, 'data'))).toEqual(['precious']);
  await refused(
    { address: `s3:${server.url}/elsewhere`, credentials },
    /cannot be read: .*bucket.*Nothing was changed/,
  );
  const gone = await startS3Server({ buckets: ['backups'] });
  await gone.close();
  await refused(bucket('x', gone), /cannot be read: .*Nothing was changed/);
  await restoreAll(backups, shop, ids);
});

const elsewhere = (backups: string) => ({
  ...machine.layout,
  backups,
  backupPlaces: `${backups}.json`,
});

onlyInLong(test)('a full disk stops a move, which continues once there is space', async () => {
  const backups = machine.backupsWith();
  const ids = await backUp(backups, shop);
  const disk = await mountSmallDisk();
  try {
    await disk.leave(200_000);
    await expect(move(backups, folder(join(disk.path, 'backups')))).rejects.toThrow(
      /no space left on device/,
    );
    expect(await backups.places()).toMatchObject({ current: machine.layout.backups });
    await restoreAll(backups, shop, ids);
    await disk.makeRoom();
    expect(await move(backups, folder(join(disk.path, 'backups')))).toMatchObject({ backups: 1 });
    await restoreAll(backups, shop, ids);
  } finally {
    await disk.remove();
  }
});
