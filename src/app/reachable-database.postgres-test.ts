import { connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace, silent } from '../../test/database.ts';
import { freePort } from '../../test/servers/free-port.ts';
import type { Config } from '../config/config.ts';
import { readConfig } from '../config/config.ts';
import { openCurrentDatabase } from './open-platform.ts';
import { untilReachable } from './reachable-database.ts';

let place: DatabasePlace;
let server: Server;
let config: Config;

/** The settings lead to a port that leads to PostgreSQL once the server listens. */
beforeEach(async () => {
  place = await migratedPlace();
  const { databaseUrl, dataDir } = place.settings;
  const real = new URL(databaseUrl ?? '');
  const there = new URL(real);
  there.port = String(await freePort());
  config = readConfig({ HOMEPORT_DATA_DIR: dataDir, HOMEPORT_DATABASE_URL: there.href });
  server = createServer((socket) => {
    const onward = connect(Number(real.port), real.hostname);
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
});
afterEach(async () => {
  server.close();
  await place.remove();
});

const listen = () => server.listen(Number(new URL(config.databaseUrl ?? '').port), '127.0.0.1');

it('waits at the start of a service, and says so', async () => {
  const steps: string[] = [];
  const opened = openCurrentDatabase(config, silent, {
    isCommand: false,
    announce: async (step) => {
      steps.push(step);
      listen();
    },
  });
  const { database } = await opened;
  await database.close();
  expect(steps).toEqual(['Waiting for the database (may take long)']);
});

it('leaves the fault to the start if PostgreSQL stays away', async () => {
  let steps = 0;
  const announce = async () => void steps++;
  await untilReachable(config, silent, announce, { patienceMs: 0, retryMs: 10 });
  expect(steps).toBe(1);
  // Without a service manager, people see the fault at once.
  await expect(openCurrentDatabase(config, silent, { isCommand: false })).rejects.toThrow('ECONNREFUSED');
});

it('does not wait for settings that are wrong', async () => {
  const wrong = new URL(place.settings.databaseUrl ?? '');
  wrong.pathname = '/missing';
  let steps = 0;
  await untilReachable({ ...config, databaseUrl: wrong.href }, silent, async () => void steps++);
  expect(steps).toBe(0);
});
