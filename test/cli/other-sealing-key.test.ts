import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databasePlace } from '../database.ts';
import { startTestHomeport } from '../homeport.ts';
import { call } from './call-homeport.ts';
import { environmentFor, serve } from './run-homeport.ts';

test('a start without the key that the database was sealed with says so, and serves', async () => {
  const place = await databasePlace();
  try {
    const before = await startTestHomeport({ place });
    const { accountId, owner } = await before.ownedAccount();
    // The key of its certificate is sealed.
    const { name } = await before.install(owner, accountId);
    await before.remove();
    rmSync(join(place.settings.dataDir, 'sealing.key'));

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
  } finally {
    await place.remove();
  }
});
