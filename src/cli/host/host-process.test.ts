import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { takesConnections } from '../platform/host-socket.ts';
import { keepHostRunning } from './host-process.ts';
import type { KeptProcess } from './kept-process.ts';

let folder: string;
let socket: string;
let log: string[];
let leftovers: number;
let host: KeptProcess | null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-beside-'));
  socket = join(folder, 'host.sock');
  [log, leftovers, host] = [[], 0, null];
});
afterEach(async () => {
  await host?.stop();
  await rm(folder, { recursive: true });
});

/** A fake host: accepts connections, records its process id, and ends at SIGTERM. */
const LISTENS = `
  const fs = require('node:fs');
  const [socket, folder] = process.argv.slice(1);
  fs.rmSync(socket, { force: true });
  const server = require('node:net').createServer((connection) => connection.destroy());
  process.on('SIGTERM', () => setTimeout(() => { fs.writeFileSync(folder + '/ended', ''); process.exit(0); }, 100));
  // Before it can be seen to listen: whoever waited for that reads it, and ends it.
  fs.writeFileSync(folder + '/pid', String(process.pid));
  server.listen(socket);
`;

async function keep(script = LISTENS, firstMs = 50): Promise<KeptProcess> {
  host = keepHostRunning({
    command: [process.execPath, '-e', script, socket, folder],
    socket,
    endLeftovers: async () => {
      leftovers++;
    },
    log: pino({ level: 'info' }, { write: (line) => log.push(line) }),
    clock: systemClock,
    restarts: { firstMs, longestMs: 100_000, healthyMs: 60_000 },
  });
  await host.ready;
  return host;
}

const pid = async () => Number(await readFile(join(folder, 'pid'), 'utf8'));

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 2_000; tried++) {
    if (await holds()) return;
    await pause(10);
  }
  throw new Error('it did not come to hold within 20 s');
}

test('is ended gracefully', async () => {
  const running = await keep();
  await running.stop();
  expect(existsSync(join(folder, 'ended'))).toBe(true);
  expect(await takesConnections(socket)).toBe(false);
  expect({ log, leftovers }).toEqual({ log: [], leftovers: 0 });
});

test('is started again when it dies, each time with a line in the log, and ended all the same', async () => {
  const running = await keep();
  for (const times of [1, 2]) {
    const before = await pid();
    process.kill(before, 'SIGKILL');
    await until(async () => (await pid()) !== before && (await takesConnections(socket)));
    expect(log).toHaveLength(times);
    expect(log.at(-1)).toContain('the host of this machine was ended by SIGKILL');
  }
  await running.stop();
  expect(existsSync(join(folder, 'ended'))).toBe(true);
  expect(leftovers).toBe(0);
});

test('what one that was killed has left is ended where no other follows', async () => {
  const running = await keep(LISTENS, 100_000);
  process.kill(await pid(), 'SIGKILL');
  await until(() => log.length === 1);
  await running.stop();
  expect(leftovers).toBe(1);
});

test('tells of one that never runs', async () => {
  await expect(keep('process.exit(3)')).rejects.toThrow('the host of this machine ended before it was ready');
  expect(leftovers).toBe(0);
  await expect(keep('process.kill(process.pid, "SIGKILL")')).rejects.toThrow('ended before it was ready');
  expect(leftovers).toBe(1);
});
