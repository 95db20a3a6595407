import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databasePlace } from '../database.ts';
import { environmentFor, run, serve } from './run-homeport.ts';

test('a start without the key that the database was sealed with says so, and serves', async () => {
  const place = await databasePlace();
  const environment = await environmentFor(place);
  try {
    for (const [restored, words] of [
      [false, ['--demo']],
      [true, []],
    ] as const) {
      const server = await serve(environment, ...words);
      // Once that is done, the website has its certificate.
      expect(await run(environment, 'install', 'apply', 'harbourcafe')).toMatchObject({ code: 0 });
      server.process.kill('SIGTERM');
      const { stderr } = await server.ended;
      expect(stderr.includes('is not the key that the private keys in the database were sealed with')).toBe(
        restored,
      );
      rmSync(join(place.settings.dataDir, 'sealing.key'));
    }
  } finally {
    await place.remove();
  }
});
