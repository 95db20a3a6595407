import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DatabasePlace, migratedPlace } from '../database.ts';
import { visit } from '../edge.ts';
import { startTestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { call } from './call-homeport.ts';
import { environmentFor, serve } from './run-homeport.ts';

let place: DatabasePlace;
/** An install whose certificate has a key that cannot be opened any more. */
let name: string;

beforeEach(async () => {
  place = await migratedPlace();
  const before = await startTestHomeport({ place });
  const { accountId, owner } = await before.ownedAccount();
  ({ name } = await before.install(owner, accountId));
  await before.remove();
  rmSync(join(place.settings.dataDir, 'sealing.key'));
});
afterEach(() => place.remove());

test('a server serves without the key that the database was sealed with', async () => {
  const homeport = await startTestHomeport({ place });
  try {
    const environment = await environmentFor(place);
    expect(await call(environment, 'install', 'apply', name)).toMatchObject({ code: 0 });
    expect(await visit(homeport, `http://${name}.localhost/`)).toMatchObject({ status: 200 });
  } finally {
    await homeport.remove();
  }
});

// sealing-key.both.test.ts has the finding that it prints.
onlyInLong(test)(
  'a start without the key that the database was sealed with says so, and serves',
  async () => {
    const environment = await environmentFor(place);
    const server = await serve(environment);
    expect(await call(environment, 'install', 'apply', name)).toMatchObject({ code: 0 });
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(
        'is not the key that the private keys in the database were sealed with',
      ),
    });
  },
);
