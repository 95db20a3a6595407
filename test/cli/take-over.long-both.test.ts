import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { startTestHomeport } from '../homeport.ts';
import { onlyOn } from '../only-on.ts';
import { call } from './call-homeport.ts';
import { type Environment, environmentFor, run } from './run-homeport.ts';

let place: DatabasePlace;
let environment: Environment;
beforeAll(async () => {
  place = await databasePlace();
  environment = await environmentFor(place);
  expect(await call(environment, 'migrate')).toMatchObject({ code: 0 });
});
afterAll(() => place?.remove());

onlyOn('sqlite', test)('a database in the data folder goes with the websites', async () => {
  expect(await call(environment, 'host', 'take-over', '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: There is nothing to take over: this is for HOMEPORT_HOST=embedded on PostgreSQL.\n',
  });
});

onlyOn('postgres', describe)('a data folder in place of one that is lost', () => {
  test('serves the websites once that is said on purpose, and no server is there that does', async () => {
    const dataDir = join(place.settings.dataDir, 'new');
    mkdirSync(dataDir, { mode: 0o700 });
    const elsewhere = { ...environment, HOMEPORT_DATA_DIR: dataDir };
    const takeOver = (...words: string[]) => call(elsewhere, 'host', 'take-over', ...words);

    const server = await startTestHomeport({ place });
    expect((await takeOver('--yes')).stderr).toMatch(/^homeport: A server still hosts the websites \(/);
    // From there, every website looks lost, and would be replaced without a backup.
    const restored = await call(elsewhere, 'platform', 'restore', '--install', 'shop', '--yes');
    expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('Run this command there.') });
    await server.stop();

    const refused = await run(elsewhere, 'serve');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(
      `homeport: The websites of this database are in another data folder: ${place.settings.dataDir} on `,
    );
    expect((await takeOver()).stderr).toContain('Without a terminal, add --yes.');
    expect(await takeOver('--yes')).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        `^The websites are served from ${dataDir}, no longer from ${place.settings.dataDir} on `,
      ),
      stderr: '',
    });

    const settings = { ...place.settings, dataDir };
    const after = await startTestHomeport({ place: { ...place, settings } });
    expect(after.hosting).not.toBeNull();
    await after.stop();
    await expect(startTestHomeport({ place })).rejects.toThrow(`${dataDir} on `);
  });

  test('has an id made for it, where its own is lost', async () => {
    const own = await databasePlace();
    try {
      const settings = await environmentFor(own);
      expect(await call(settings, 'migrate')).toMatchObject({ code: 0 });
      const first = await startTestHomeport({ place: own });
      await first.stop();
      writeFileSync(join(own.settings.dataDir, 'host', 'id'), '');
      await expect(startTestHomeport({ place: own })).rejects.toThrow('"homeport host take-over"');
      expect(await call(settings, 'host', 'take-over', '--yes')).toEqual({
        code: 0,
        stdout: `The websites are served from ${own.settings.dataDir}.\n`,
        stderr: '',
      });
      await (await startTestHomeport({ place: own })).stop();
    } finally {
      await own.remove();
    }
  });

  test('is not claimed by a command that works while no server does', async () => {
    const own = await databasePlace();
    try {
      const settings = await environmentFor(own);
      expect(await call(settings, 'migrate')).toMatchObject({ code: 0 });
      const server = await startTestHomeport({ place: own });
      const { accountId, owner } = await server.ownedAccount();
      const { name } = await server.install(owner, accountId);
      const { database } = server.platform;
      await database.write(({ queries }) => queries.deleteFrom('websites_folder').execute());
      await server.stop();

      const dataDir = join(own.settings.dataDir, 'new');
      mkdirSync(dataDir, { mode: 0o700 });
      copyFileSync(join(own.settings.dataDir, 'sealing.key'), join(dataDir, 'sealing.key'));
      const elsewhere = { ...settings, HOMEPORT_DATA_DIR: dataDir };
      // Its websites are in the folder that is lost.
      expect(await call(elsewhere, 'install', 'apply', name)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is missing on its machine'),
      });

      await (await startTestHomeport({ place: own })).stop();
      expect(await call(elsewhere, 'install', 'apply', name)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${own.settings.dataDir} on `),
      });
    } finally {
      await own.remove();
    }
  });
});
