import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limiterFor } from '../../../test/connections.ts';
import { limitConnections } from './http-connections.ts';

let server: Server | undefined;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server?.close();
});

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n';

/** A server for one connection, and a function that connects and sends `text`. */
async function serve(handle: RequestListener) {
  const limiter = limiterFor('api', { total: 1 });
  const started = createServer(handle);
  server = started;
  limitConnections(started, limiter);
  started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  const bound = started.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  function send(text: string): Socket {
    const client = connect({ port, host: '127.0.0.1' });
    client.on('error', () => {});
    client.write(text);
    clients.push(client);
    return client;
  }
  return { limiter, send, requested: () => once(started, 'request') };
}

/** The first line that the client receives; '' if the server closes the connection without data. */
async function firstLine(client: Socket): Promise<string> {
  for await (const chunk of client) return String(chunk).split('\r\n')[0] ?? '';
  return '';
}

const answerWithBody: RequestListener = (request, response) => {
  request.on('end', () => response.end()).resume();
};

test('a connection without a complete request body makes room', async () => {
  const { send, requested } = await serve(answerWithBody);
  const slow = send(`${POST}x`);
  await requested();
  expect(await firstLine(send(GET))).toBe('HTTP/1.1 200 OK');
  expect(await firstLine(slow)).toBe('');
});

test('a complete request keeps its connection until the response', async () => {
  const { send, requested, limiter } = await serve((request) => request.resume());
  for (const text of [GET, `${POST}xx`]) {
    const client = send(text);
    const [request] = await requested();
    if (!request.readableEnded) await once(request, 'end');
    expect(await firstLine(send(GET))).toBe('');
    client.destroy();
    await expect.poll(() => limiter.counts.open).toBe(0);
  }
});

test('a connection makes room after a response that came before the end of the request body', async () => {
  const { send, requested } = await serve((request, response) => {
    response.end('early');
    request.resume();
  });
  const client = send(POST);
  const [request] = await requested();
  const ended = once(request, 'end');
  await once(client, 'data');
  client.write('xx');
  await ended;
  expect(await firstLine(send(GET))).toBe('HTTP/1.1 200 OK');
});
