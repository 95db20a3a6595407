import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { requireSshBanner } from './banner.ts';

const SLOW_MS = 2_500;

let server: Server;
let answer: (socket: Socket) => void;
beforeEach(async () => {
  server = createServer((socket) => answer(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

function ask(): Promise<void> {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return requireSshBanner({ host: '127.0.0.1', port: address.port });
}

it('waits for a server on a busy machine', async () => {
  answer = (socket) => void setTimeout(() => socket.end('SSH-2.0-OpenSSH_9.2p1\r\n'), SLOW_MS);
  await ask();
});

it('rejects another protocol', async () => {
  answer = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n');
  await expect(ask()).rejects.toThrow('something else listens there');
});

it('rejects a connection that is closed', async () => {
  answer = (socket) => socket.end();
  await expect(ask()).rejects.toThrow('it closed the connection');
});
