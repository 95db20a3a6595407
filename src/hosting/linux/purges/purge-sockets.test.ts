import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import type { Pages } from './purge-message.ts';
import { createPurgeSockets, type PurgeSockets } from './purge-sockets.ts';

const clock = manualClock(new Date('2026-05-04T03:02:01.000Z'));
const gid = process.getgid?.() ?? 0;
let folder: string;
let sockets: PurgeSockets;
let asked: [string, Pages][];
const purgeSocketOf = (id: string) => join(folder, `${id}.sock`);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-purges-'));
  asked = [];
  sockets = createPurgeSockets({
    layout: { purgeSocketOf },
    queue: { ask: async (id, pages) => void asked.push([id, pages]), forget: () => {} },
    clock,
    log: pino({ level: 'silent' }),
  });
  for (const id of ['shop', 'blog']) await sockets.open({ id, gid });
});
afterEach(async () => {
  await sockets.stop();
  await rm(folder, { recursive: true });
});

/** The host's answer to these bytes; empty if it answers nothing. */
async function send(id: string, bytes: string): Promise<string> {
  const client = connect(purgeSocketOf(id));
  let text = '';
  client.on('data', (part) => {
    text += part.toString();
  });
  client.on('error', () => {});
  const closed = new Promise((resolve) => client.on('close', resolve));
  client.write(bytes);
  await closed;
  return text;
}

test('purges pages of the install whose socket it is', async () => {
  expect((await stat(purgeSocketOf('shop'))).mode & 0o777).toBe(0o660);
  expect(await send('shop', '{"paths":["/a/"]}\n')).toBe('ok\n');
  expect(await send('blog', '{"everything":true}\n')).toBe('ok\n');
  expect(asked).toEqual([
    ['shop', ['/a/']],
    ['blog', 'everything'],
  ]);
});

test('ignores what is malformed or too long, and goes on', async () => {
  for (const bytes of [
    '\n',
    'POST / HTTP/1.1\r\n\r\n',
    '{"paths":["/../etc"]}\n',
    '{"paths":["/a"],"install":"blog"}\n',
    `{"paths":["/${'a'.repeat(70_000)}"]}\n`,
    'x'.repeat(200_000),
  ]) {
    expect(await send('shop', bytes)).toBe('');
  }
  expect(asked).toEqual([]);
  expect(await send('shop', '{"paths":["/a/"]}\n')).toBe('ok\n');
});

test('pauses a socket with too many connections, then purges everything; others are unaffected', async () => {
  for (let count = 0; count < 50; count++) await send('shop', '{"paths":["/a/"]}\n');
  expect(await send('shop', '{"paths":["/b/"]}\n')).toBe('');
  expect(await sockets.isOpen('shop')).toBe(true);
  expect(await send('blog', '{"paths":["/b/"]}\n')).toBe('ok\n');
  clock.advance(1_000);
  await expect.poll(() => asked.at(-1)).toEqual(['shop', 'everything']);
  expect(await send('shop', '{"paths":["/c/"]}\n')).toBe('ok\n');
});

test('replaces a deleted socket, and closes for good', async () => {
  await rm(purgeSocketOf('shop'));
  expect(await sockets.isOpen('shop')).toBe(false);
  await sockets.open({ id: 'shop', gid });
  expect(await send('shop', '{"everything":true}\n')).toBe('ok\n');
  await sockets.close('shop');
  expect(await sockets.isOpen('shop')).toBe(false);
  expect(await send('shop', '{"everything":true}\n')).toBe('');
});
