import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reservePorts } from './reserved-ports.ts';

let folder: string;
let lines: string[];
const log = pino({}, { write: (line) => lines.push(line) });

beforeEach(async () => {
  lines = [];
  folder = await mkdtemp(join(tmpdir(), 'homeport-ports-'));
  await writeFile(join(folder, 'ip_local_port_range'), '32768\t60999\n');
  await writeFile(join(folder, 'ip_local_reserved_ports'), '\n');
});
afterEach(() => rm(folder, { recursive: true }));

const reserved = () => readFile(join(folder, 'ip_local_reserved_ports'), 'utf8');

test('reserves the ports that outgoing connections could get, and no others', async () => {
  await reservePorts([443, 32_767, 32_768, 40_000, 60_999, 61_000], { log, folder });
  expect(await reserved()).toBe('32768,40000,60999');
});

test('keeps the operator’s reservations, and a second start adds none', async () => {
  await writeFile(join(folder, 'ip_local_reserved_ports'), '8080,40000-40010\n');
  await reservePorts([40_005, 50_000], { log, folder });
  expect(await reserved()).toBe('8080,40000-40010,50000');
  await reservePorts([40_005, 50_000], { log, folder });
  expect(await reserved()).toBe('8080,40000-40010,50000');
});

test('changes nothing for ports below the range', async () => {
  await reservePorts([443, 2222, 8443], { log, folder });
  expect(await reserved()).toBe('\n');
  expect(lines).toEqual([]);
});

test('logs a warning with the ports and advice if the kernel refuses', async () => {
  const write = () => Promise.reject(new Error('EROFS: read-only file system'));
  await reservePorts([40_000], { log, folder, write });
  expect(JSON.parse(lines.join(''))).toMatchObject({
    ports: [40_000],
    msg: expect.stringContaining('ip_local_reserved_ports'),
  });
});
