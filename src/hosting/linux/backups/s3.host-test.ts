import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { type S3Server, startS3Server } from '../../../../test/servers/s3-server.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import { describeBrowsing } from './browsing.fixture.ts';

let machine: BackupMachine;
let server: S3Server;
let shop: HostedInstall;

beforeAll(async () => {
  machine = await startBackupMachine();
  server = await startS3Server({ buckets: ['backups'] });
  shop = await machine.newWebsite();
});
afterAll(async () => {
  await server?.close();
  await machine?.stop();
});

const credentials = { accessKeyId: 'an-id', secretAccessKey: 'a-secret-of-the-tests' };

test('backups are made, restored, discarded and removed in S3 as in a folder', async () => {
  const remote = machine.backupsWith({ repository: `s3:${server.url}/backups/homeport`, credentials });
  const [one, two] = [randomUUID(), randomUUID()];
  const before = machine.filesOf(shop);
  const made = await remote.snapshot(shop, one);
  await remote.snapshot(shop, two);
  machine.put(shop, 'intruder.php', '<?php');
  await remote.discard(shop.ref, two);
  expect(await remote.restore(shop, one, { from: shop.ref })).toEqual(made);
  expect(machine.filesOf(shop)).toBe(before);
  await expect(remote.restore(shop, two, { from: shop.ref })).rejects.toThrow(/no backup/);
  expect(server.requests.every(({ signed }) => signed)).toBe(true);
  const inPlace = server.requests.filter(({ path }) => path.startsWith(`/backups/homeport/${shop.ref.id}/`));
  expect(inPlace.length).toBeGreaterThan(10);

  await remote.removeAll(shop.ref.id);
  await expect(remote.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
});

onlyInLong(test)('a file of a backup in S3 is read without the rest', async () => {
  const remote = machine.backupsWith({ repository: `s3:${server.url}/backups/homeport`, credentials });
  for (const name of ['a', 'b', 'c']) machine.put(shop, `${name}.zip`, randomBytes(12_000_000));
  const id = randomUUID();
  await remote.snapshot(shop, id);
  const packs = () => server.requests.filter(({ path }) => path.includes('/data/')).length;
  const before = packs();
  expect(before).toBeGreaterThan(0);
  expect(await remote.browseBackup(shop.ref, id, { folder: 'htdocs', offset: 0, limit: 10 })).toMatchObject({
    count: 4,
  });
  expect(packs()).toBe(before);
  const part = { path: 'htdocs/index.html', offset: 0, length: 100 };
  const read = await remote.readBackupFile(shop.ref, id, part);
  expect(read).toEqual({ size: 5, bytes: Buffer.from('hello') });
  expect(packs() - before).toBeLessThanOrEqual(2);
  await remote.removeAll(shop.ref.id);
});

test('a bucket that is not there is an error that says so, and loses nothing', async () => {
  const remote = machine.backupsWith({ repository: `s3:${server.url}/elsewhere`, credentials });
  const before = machine.filesOf(shop);
  await expect(remote.snapshot(shop, randomUUID())).rejects.toThrow(/bucket/i);
  expect(machine.filesOf(shop)).toBe(before);
  expect(await machine.leftoversOf(shop)).toEqual([]);
});

describe('browsing', () => describeBrowsing(() => machine));
