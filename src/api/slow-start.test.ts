import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { limiterFor } from '../../test/connections.ts';
import { createSelfSigned } from '../lib/certificates/self-signed-certificate.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { systemRandomness } from '../lib/ids.ts';
import { createServer } from './server.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('starts even if a plugin takes an hour to load', async () => {
  const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  const loading = Promise.withResolvers<void>();
  const machine = Promise.withResolvers<void>();
  // Only Fastify's timer runs here, and it accepts no other clock.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = createServer({
    config: { publicUrl: 'https://localhost', trustProxy: [], hstsSeconds: 0 },
    routes: [],
    portalRoutes: [],
    gate: {
      enter: async () => {},
      reauthenticate: () => Promise.reject(new Error('no answer is held')),
      enterPortal: async () => {},
      anonymous: async () => {},
    },
    certificate: { cert: chain, key },
    connections: limiterFor('api'),
    random: systemRandomness,
    log: pino({ level: 'silent' }),
    pages: [
      async (app) => {
        await app.register(async () => {
          loading.resolve();
          await machine.promise;
        });
      },
    ],
  });
  await loading.promise;
  vi.advanceTimersByTime(HOUR_MS);
  machine.resolve();
  const { app } = await server;
  expect((await app.inject('/nowhere')).statusCode).toBe(403);
  await app.close();
});
