import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace } from '../../../../test/database.ts';
import { upgradeFiles } from '../../../app/upgrade-copy.ts';
import { SQLITE_FILE } from '../../../database/open.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { databaseNeeds, programNeeds, requireRoom } from './needs.ts';
import { isOneSystem } from './room.ts';

let place: DatabasePlace;
beforeEach(async () => {
  place = await migratedPlace();
});
afterEach(() => place.remove());

it('needs room for the copy of the database and for the platform backup', async () => {
  const config = place.settings;
  const [copy, backup] = await databaseNeeds({ config, backups: '/backups' });
  expect(copy?.folder).toBe(upgradeFiles(config).folder);
  expect(backup?.folder).toBe('/backups');
  if (config.databaseUrl === null) {
    const { size } = statSync(join(config.dataDir, SQLITE_FILE));
    expect([copy?.bytes, backup?.bytes]).toEqual([2 * size, size]);
  } else {
    expect(copy?.bytes).toBeGreaterThan(100_000);
    expect(copy?.bytes).toBeLessThan(5_000_000);
    expect(backup?.bytes).toBe(copy?.bytes);
  }
  expect(await databaseNeeds({ config, backups: null })).toEqual([copy]);
});

it('needs room for the package, the former program and the new one', async () => {
  const paths = { packages: '/kept/packages', tree: '/kept/former' };
  const needs = (isLinked: boolean) =>
    programNeeds({ packageBytes: 1, nextBytes: 2, formerBytes: 4 }, { ...paths, isLinked });
  expect(needs(true)).toEqual([
    { folder: '/kept/packages', bytes: 1 },
    { folder: '/kept/former', bytes: 2 },
    { folder: '/usr/lib/homeport', bytes: 6 },
  ]);
  // Between file systems, the kept files are copies, and a return unpacks when the present files are gone.
  expect(needs(false).slice(1)).toEqual([
    { folder: '/kept/former', bytes: 8 },
    { folder: '/usr/lib/homeport', bytes: 2 },
  ]);
  expect(await isOneSystem('/proc/none', '/usr/none')).toBe(false);
  expect(await isOneSystem('/usr/none/former', '/usr/none')).toBe(true);
});

it('refuses an upgrade without that room', async () => {
  const enough = { packageBytes: 0, nextBytes: 0, formerBytes: 0 };
  const data = { config: place.settings, backups: null };
  await requireRoom(enough, data);
  const refused: unknown = await requireRoom({ ...enough, packageBytes: 2 ** 62 }, data).catch(
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(OperatorError);
  expect(refused).toMatchObject({ message: expect.stringContaining('Make room. Nothing was changed.') });
  await requireRoom({ ...enough, packageBytes: 2 ** 62 }, data, { isIgnored: true });
});

it('checks the rest if the database cannot be asked', async () => {
  const config = { ...place.settings, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
  expect(await databaseNeeds({ config, backups: null })).toEqual([
    { folder: upgradeFiles(config).folder, bytes: 0 },
  ]);
});
