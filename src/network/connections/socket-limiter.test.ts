import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { limiterFor } from '../../../test/connections.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import type { SocketLimiter } from './socket-limiter.ts';

let server: Server | undefined;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server?.close();
});

/** A limited server, and a function that connects to it and returns the server's socket, or null if refused. */
async function serve(limiter: SocketLimiter) {
  const arrived: ((socket: Socket | null) => void)[] = [];
  server = createServer((socket) => {
    socket.on('error', () => {});
    arrived.shift()?.(limiter.admit(socket) ? socket : null);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return async (localAddress: string): Promise<Socket | null> => {
    const taken = new Promise<Socket | null>((resolve) => arrived.push(resolve));
    const client = connect({ port, host: '127.0.0.1', localAddress });
    client.on('error', () => {});
    clients.push(client);
    return taken;
  };
}

test('an address gets only its share, and a closed connection frees its place', async () => {
  const limiter = limiterFor('api', { total: 10, perBlock: 2 });
  const from = await serve(limiter);
  const first = await from('127.0.1.1');
  expect(await from('127.0.1.1')).not.toBeNull();
  expect(await from('127.0.1.1')).toBeNull();
  expect(await from('127.0.1.2')).not.toBeNull();
  expect(limiter.counts).toEqual({ open: 3, refused: 1 });
  first?.destroy();
  await expect.poll(() => limiter.counts.open).toBe(2);
  expect(await from('127.0.1.1')).not.toBeNull();
});

test('on a full server, the connection that has waited longest makes room', async () => {
  const limiter = limiterFor('api', { total: 3 });
  const from = await serve(limiter);
  const [busy, again, silent] = [await from('127.0.1.1'), await from('127.0.1.2'), await from('127.0.1.3')];
  if (!busy || !again || !silent) throw new Error('refused too early');
  limiter.busy(busy);
  limiter.busy(again);
  limiter.waiting(again);
  expect(await from('127.0.1.4')).not.toBeNull();
  expect([busy.destroyed, again.destroyed, silent.destroyed]).toEqual([false, false, true]);
  expect(limiter.counts).toEqual({ open: 3, refused: 1 });
});

test('a new connection is refused if all connections are in use', async () => {
  const limiter = limiterFor('api', { total: 1 });
  const from = await serve(limiter);
  const busy = await from('127.0.1.1');
  if (busy) limiter.busy(busy);
  expect(await from('127.0.1.2')).toBeNull();
  expect(busy?.destroyed).toBe(false);
});

test('a connection with two requests makes no room until both have responses', async () => {
  const limiter = limiterFor('api', { total: 1 });
  const from = await serve(limiter);
  const pipelined = await from('127.0.1.1');
  if (!pipelined) throw new Error('refused too early');
  limiter.busy(pipelined);
  limiter.busy(pipelined);
  limiter.waiting(pipelined);
  expect(await from('127.0.1.2')).toBeNull();
  limiter.waiting(pipelined);
  expect(await from('127.0.1.2')).not.toBeNull();
});

test('a trusted proxy is limited by the total only, and its connections never make room', async () => {
  const limiter = limiterFor('api', { total: 3, perBlock: 1 }, { trusted: ['127.0.1.1'] });
  const from = await serve(limiter);
  for (let i = 0; i < 3; i++) expect(await from('127.0.1.1')).not.toBeNull();
  expect(await from('127.0.1.2')).toBeNull();
});

test('refusals are logged once a minute', async () => {
  const lines: { refused: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
  const clock = manualClock();
  const limiter = limiterFor('ssh', { perBlock: 0 }, { log, clock });
  const from = await serve(limiter);
  for (let i = 0; i < 5; i++) await from('127.0.1.1');
  expect(lines).toMatchObject([{ server: 'ssh', address: '127.0.1.1', refused: 1 }]);
  clock.advance(MINUTE_MS);
  await from('127.0.1.1');
  expect(lines).toMatchObject([{ refused: 1 }, { refused: 5 }]);
});
