import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';

const shop = siteState('shop', ['shop.test']);
const blog = siteState('blog', ['blog.test']);
const MEGABYTE = 1024 * 1024;

// Visitors of one website, who must not affect the others.

let server: TestServer;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  server = await startServer();
  await server.web.start([await server.makeInstall(shop), await server.makeInstall(blog)]);
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

let pages = 0;

function connectFrom(address: string, head: string): Socket {
  const socket = connect({
    port: server.options.edgeHttp.port,
    host: '127.0.0.1',
    localAddress: address,
  });
  socket.on('error', () => {});
  socket.write(`${head}\r\n\r\n`);
  sockets.push(socket);
  return socket;
}

/** The status of a page that no one has asked for before. */
async function status(host: string, from: string): Promise<string> {
  const socket = connectFrom(from, `GET /page-${++pages}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close`);
  return (await text(socket)).slice(9, 12);
}

/** Begins requests whose bodies never end. Returns how many of them have been refused so far. */
function beginPosts(count: number, from: string, length: number): () => number {
  const answers = Array.from({ length: count }, () => '');
  for (const at of answers.keys()) {
    const head = `POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: ${length}`;
    connectFrom(from, head).on('data', (part: Buffer) => {
      answers[at] += part.toString('latin1');
    });
  }
  return () => answers.filter((answer) => answer.startsWith('HTTP/1.1 429 ')).length;
}

test('all visitors of a website have a limited number of requests, and another website is served', async () => {
  const addresses = [11, 12, 13, 14, 15].map((last) => `127.0.0.${last}`);
  const begun = addresses.map((address) => beginPosts(500, address, 1_000));
  await expect.poll(() => begun.reduce((sum, refused) => sum + refused(), 0)).toBe(452);
  expect(await status('shop.test', '127.0.0.2')).toBe('429');
  expect(await status('blog.test', '127.0.0.2')).toBe('200');
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => status('shop.test', '127.0.0.2')).toBe('200');
});

test('large bodies are limited by address and website, because each may fill a file', async () => {
  await expect.poll(beginPosts(20, '127.0.0.11', 1_000_000)).toBe(4);
  expect(await status('shop.test', '127.0.0.11')).toBe('200');
  const others = [beginPosts(15, '127.0.0.12', 1_000_000), beginPosts(15, '127.0.0.13', 1_000_000)];
  await expect.poll(() => others.reduce((sum, refused) => sum + refused(), 0)).toBe(14);
  expect(await status('shop.test', '127.0.0.12')).toBe('200');
  const complete = { method: 'POST', body: Buffer.alloc(2 * MEGABYTE) };
  expect((await server.http('blog.test', '/', complete)).status).toBe(200);
});

describe('slow readers', () => {
  beforeEach(async () => {
    const php = `<?php for ($part = 0; $part < (int) $_GET['megabytes']; $part++) { echo str_repeat('x', ${MEGABYTE}); flush(); }`;
    for (const install of [shop, blog]) await server.write(install, 'large.php', php);
  });

  /** Requests a page by a method that no cache answers, and reads no more than its beginning. */
  async function readSlowly(megabytes: number): Promise<void> {
    const path = `/large.php?megabytes=${megabytes}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0`;
    await once(connectFrom('127.0.0.11', head), 'readable');
  }

  test('do not occupy PHP, because nginx takes its answers', async () => {
    // More than the website has workers.
    for (let reader = 1; reader <= 10; reader++) await readSlowly(12);
    expect(await status('shop.test', '127.0.0.2')).toBe('200');
  });

  test('of larger answers occupy only their own website', async () => {
    for (let reader = 1; reader <= 4; reader++) await readSlowly(60);
    const waiting = status('shop.test', '127.0.0.2');
    expect(await status('blog.test', '127.0.0.2')).toBe('200');
    for (const socket of sockets.slice(0, 4)) socket.destroy();
    expect(await waiting).toBe('200');
  });
});
