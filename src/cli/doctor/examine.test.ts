import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatabasePlace, migratedPlace, silent } from '../../../test/database.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { readConfig } from '../../config/config.ts';
import { isLocked, lockForProcess } from '../../database/process-lock.ts';
import { lockWebsites } from '../platform/websites-lock.ts';
import { examine } from './examine.ts';

let place: DatabasePlace;
beforeAll(async () => {
  place = await migratedPlace();
});
afterAll(() => place?.remove());

test('a lock is seen by who only looks, and left alone', () => {
  const file = join(place.settings.dataDir, 'a.lock');
  expect(isLocked(file)).toBe(false);
  const lock = lockForProcess(file);
  expect(isLocked(file)).toBe(true);
  lock?.release();
  expect(isLocked(file)).toBe(false);
  writeFileSync(file, 'no database, and nobody has it');
  expect(isLocked(file)).toBe(false);
});

onlyInLong(test)('a server that cannot write to its database any more is one all the same', async () => {
  const server = createServer((_request, response) => response.writeHead(404).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const config = readConfig({
    HOMEPORT_DATA_DIR: place.settings.dataDir,
    ...(place.settings.databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: place.settings.databaseUrl }),
    HOMEPORT_LISTEN: `127.0.0.1:${await freePort()}`,
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${port}`,
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
    HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
    HOMEPORT_RESOLVERS: '127.0.0.1:9',
  });
  const find = async (wanted: string) =>
    (await examine(config, { log: silent })).find(({ check }) => check === wanted);
  try {
    expect(await find('sites, HTTP')).toMatchObject({
      state: 'problem',
      message: `Another program uses 127.0.0.1:${port}.`,
    });
    const lock = lockWebsites(config);
    expect(await find('sites, HTTP')).toMatchObject({
      state: 'ok',
      message: `Answers on 127.0.0.1:${port}.`,
    });
    expect(await find('jobs')).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('has not reported to the database'),
      remedy: expect.stringContaining('disk'),
    });
    lock.release();
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
