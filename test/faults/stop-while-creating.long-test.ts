import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { smallWordPress } from '../../src/hosting/embedded/wordpress/small-wordpress.fixture.ts';
import { installName, startTestHomeport } from '../homeport.ts';

const GRACE_MS = 100;
/** Shorter than the time for which the worker waits for a job that ignores its signal. */
const WHOLE_MS = 5_000;

test('a stop ends the creation of a website while PHP runs without end', async () => {
  const core = await smallWordPress(await mkdtemp(join(tmpdir(), 'homeport-core-')), '6.8.1');
  await writeFile(join(core, 'wp-load.php'), `<?php touch('/private/running'); for (;;);`);
  const homeport = await startTestHomeport({
    environment: { HOMEPORT_EMBEDDED_PHP_MB: '1000', HOMEPORT_WORDPRESS_SOURCE: core },
  });
  const { accountId, owner } = await homeport.ownedAccount();
  const wanted = { name: installName(), account_id: accountId, runtime: 'wordpress' };
  expect((await owner.client.post('/installs', wanted)).status).toBe(201);
  const making = join(homeport.config.dataDir, 'host/golden/.making');
  const isRunning = () =>
    existsSync(making) &&
    readdirSync(making).some((name) => existsSync(join(making, name, 'files/.private/running')));
  await expect.poll(isRunning, { timeout: 60_000 }).toBe(true);
  expect(await homeport.stop(GRACE_MS, WHOLE_MS)).toEqual([]);
  await homeport.remove();
  await rm(core, { recursive: true });
});

test('a stop ends the download of WordPress', async () => {
  const asking = new Set<Socket>();
  const silentSource = createServer((socket) => {
    asking.add(
      socket
        .on('close', () => asking.delete(socket))
        .on('error', () => {})
        .resume(),
    );
  });
  silentSource.listen(0, '127.0.0.1');
  await once(silentSource, 'listening');
  const address = silentSource.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const homeport = await startTestHomeport({
    environment: {
      HOMEPORT_EMBEDDED_PHP_MB: '1000',
      HOMEPORT_WORDPRESS_SOURCE: 'official',
      HOMEPORT_WORDPRESS_URL: `http://127.0.0.1:${port}`,
    },
  });
  const prepared = homeport.prepareWordPress?.();
  await expect.poll(() => asking.size, { timeout: 60_000 }).toBe(1);
  expect(await homeport.stop(GRACE_MS, WHOLE_MS)).toEqual([]);
  expect(await prepared).toMatchObject({ reason: expect.stringContaining('cannot be downloaded') });
  await expect.poll(() => asking.size).toBe(0);
  await homeport.remove();
  silentSource.close();
});
