import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRecords, type InstallRecord } from './record.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-records-'));
});
afterEach(() => rm(folder, { recursive: true }));

const log = pino({ level: 'silent' });

const record: InstallRecord = {
  state: {
    id: crypto.randomUUID(),
    name: 'shop',
    primaryHostname: 'shop.test',
    hostnames: [
      {
        name: 'shop.test',
        redirectTo: null,
        forceHttps: true,
        certificate: { chain: 'chain', key: 'secret', notAfter: '2027-01-01T00:00:00.000Z' },
      },
    ],
    offload: {
      bucket: 'media',
      region: 'eu-central-1',
      paths: [{ path: '/up', excludedPaths: ['/up/own'], redirectType: 'break' }],
    },
    phpVersion: null,
    wordpressVersion: '6.8.1',
  },
  placement: {
    uid: 200_001,
    gid: 200_001,
    phpVersion: '8.2',
    wordpressVersion: '6.8.1',
    database: 'hp_shop',
  },
};

test('reads a written record, in a file for root only', async () => {
  const records = createRecords({ folder, log });
  await records.write(record);
  expect(await records.read(record.state.id)).toEqual(record);
  expect(await records.all()).toEqual([record]);
  const { mode } = await stat(join(folder, `${record.state.id}.json`));
  expect(mode & 0o077).toBe(0);
  await records.remove(record.state.id);
  await records.remove(record.state.id);
  expect(await records.read(record.state.id)).toBeNull();
});

test('logs an unusable record without quoting it, and reads the others', async () => {
  const records = createRecords({ folder, log });
  await records.write(record);
  const broken = crypto.randomUUID();
  await writeFile(
    join(folder, `${broken}.json`),
    JSON.stringify({ ...record, placement: { uid: 'secret' } }),
  );
  expect(await records.all()).toEqual([record]);
  const error = await records.read(broken).catch((e: unknown) => e);
  expect(String(error)).toMatch(/does not match its schema/);
  expect(String(error)).not.toContain('secret');
});

test('refuses an id that leads outside of the folder', async () => {
  await expect(createRecords({ folder, log }).read('../../etc/passwd')).rejects.toThrow(/not the id/);
});
