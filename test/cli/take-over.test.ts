import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { startTestHomeport } from '../homeport.ts';
import { call } from './call-homeport.ts';
import { type Environment, environmentFor, run } from './run-homeport.ts';

const onPostgres = inject('postgresUrl') !== '';

let place: DatabasePlace;
let environment: Environment;
beforeAll(async () => {
  place = await databasePlace();
  environment = await environmentFor(place);
  expect(await call(environment, 'migrate')).toMatchObject({ code: 0 });
});
afterAll(() => place?.remove());

test.skipIf(onPostgres)('a database in the data folder goes with the websites', async () => {
  expect(await call(environment, 'host', 'take-over', '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: There is nothing to take over: this is for HOMEPORT_HOST=embedded on PostgreSQL.\n',
  });
});

describe.runIf(onPostgres)('a data folder in place of one that is lost', () => {
  test('serves the websites once that is said on purpose, and no server is there that does', async () => {
    const dataDir = join(place.settings.dataDir, 'new');
    mkdirSync(dataDir, { mode: 0o700 });
    const elsewhere = { ...environment, HOMEPORT_DATA_DIR: dataDir };
    const takeOver = (...words: string[]) => call(elsewhere, 'host', 'take-over', ...words);

    const server = await startTestHomeport({ place });
    expect((await takeOver('--yes')).stderr).toMatch(/^homeport: A server hosts the websites still \(/);
    await server.stop();

    const refused = await run(elsewhere, 'serve');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(
      `homeport: The websites of this database are in another data folder: ${place.settings.dataDir} on `,
    );
    expect((await takeOver()).stderr).toContain('Without a terminal to ask on, say --yes.');
    expect(await takeOver('--yes')).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        `^The websites are served from ${dataDir}, no more from ${place.settings.dataDir} on `,
      ),
      stderr: '',
    });

    const settings = { ...place.settings, dataDir };
    const after = await startTestHomeport({ place: { ...place, settings } });
    expect(after.hosting).not.toBeNull();
    await after.stop();
    await expect(startTestHomeport({ place })).rejects.toThrow(`${dataDir} on `);
  });
});
