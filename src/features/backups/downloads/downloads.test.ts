import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { request } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import { MOST_READ_BYTES } from '../../../hosting/contract/snapshots.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { backupDownloads, type DownloadsOptions } from './routes.ts';

const MIB = 1024 ** 2;

let app: FastifyInstance;
let uri: string;
/** Bytes that were read from the host. */
let read: number;

let isWithdrawn: boolean;

beforeEach(() => {
  read = 0;
  isWithdrawn = false;
});
afterEach(() => app.close());

async function serve(options: Partial<DownloadsOptions> = {}, bytes = 500 * MIB): Promise<void> {
  app = fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof RateLimited ? 429 : 503).send({ message: String(error) }),
  );
  const archive = {
    id: randomUUID(),
    bytes,
    sha256: 'f'.repeat(64),
    created_at: '2026-01-31T00:00:00.000Z',
    install: { id: randomUUID(), name: 'shop' },
  };
  await app.register(
    backupDownloads({
      files: {
        findByLink: async () => null,
        read: async () => Buffer.alloc(0),
        mayContinue: async () => true,
      },
      archives: { findByLink: async () => archive, mayContinue: async () => !isWithdrawn },
      async readPacked(_install, _id, { length }) {
        read += length;
        return Buffer.alloc(length);
      },
      admit: async () => {},
      ...options,
    }),
  );
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  uri = `${origin}/downloads/archives/${archive.id}?expires=1&signature=x`;
}

/** A client that reads nothing of the answer. */
async function silentClient() {
  const { hostname, port, pathname, search } = new URL(uri);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

it('reads no further ahead than a client takes', async () => {
  await serve();
  const client = await silentClient();
  await expect.poll(() => read).toBeGreaterThan(0);
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = read === before;
        before = read;
        return isStill;
      },
      { interval: 200 },
    )
    .toBe(true);
  // Sockets of the kernel take a few MiB.
  expect(read).toBeLessThan(40 * MOST_READ_BYTES);
  client.destroy();
});

it('four downloads of one archive run at once, and one more after a client has gone', async () => {
  await serve();
  const clients = [];
  for (let count = 1; count <= 4; count += 1) {
    const before = read;
    clients.push(await silentClient());
    await expect.poll(() => read).toBeGreaterThan(before);
  }
  const statusOf = async () => {
    const { statusCode, body } = await request(uri, { headers: { range: 'bytes=0-1' } });
    await body.dump();
    return statusCode;
  };
  expect(await statusOf()).toBe(429);
  clients[0]?.destroy();
  await expect.poll(statusOf).toBe(206);
  expect(await statusOf()).toBe(206);
  for (const client of clients) client.destroy();
});

it('a client that reads nothing is disconnected', async () => {
  await serve({ stallMs: 50 });
  const client = await silentClient();
  client.on('error', () => {});
  await expect.poll(() => read).toBeGreaterThan(0);
  const closed = once(client, 'close');
  await expect.poll(connections).toBe(0);
  client.destroy();
  await closed;
});

const connections = () =>
  new Promise<number>((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

it('a host that does not answer is 503, and one without the archive 404', async () => {
  await serve({ readPacked: () => Promise.reject(new Error('unreachable')) });
  expect((await request(uri)).statusCode).toBe(503);
  await app.close();
  await serve({ readPacked: () => Promise.reject(new PermanentHostError('The archive no longer exists.')) });
  const { statusCode, body } = await request(uri);
  expect(statusCode).toBe(404);
  expect(await body.json()).toEqual({ message: 'The archive no longer exists.' });
});

it('a download that breaks off ends the connection, so that nobody takes it for whole', async () => {
  let calls = 0;
  await serve({
    async readPacked(_install, _id, { length }) {
      calls += 1;
      if (calls === 3) throw new Error('unreachable');
      return Buffer.alloc(length);
    },
  });
  const { statusCode, body } = await request(uri);
  expect(statusCode).toBe(200);
  await expect(body.arrayBuffer()).rejects.toThrow();
});

it('a download ends when its archive is withdrawn', async () => {
  await serve();
  const { statusCode, body } = await request(uri);
  expect(statusCode).toBe(200);
  isWithdrawn = true;
  await expect(body.arrayBuffer()).rejects.toThrow();
  expect(read).toBeLessThan(100 * MIB);
});
