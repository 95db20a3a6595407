import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport?.remove());

test('a stop that waits for a request has said already that it is no death', async () => {
  const { platform, api, ca, stop } = homeport;
  const { username, password } = (await homeport.ownedAccount()).owner.credential;
  await homeport.idle();
  const socket = connect({ port: api?.port ?? 0, host: '127.0.0.1', servername: 'localhost', ca });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  const headers = [
    'Host: localhost',
    `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'Content-Type: application/json',
    'Content-Length: 100',
    'Expect: 100-continue',
  ];
  const reached = once(socket, 'data');
  // Its body never ends.
  socket.write(`POST /v1/sites HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`);
  await reached;
  const stopped = stop(60_000, 120_000);
  await vi.waitFor(
    async () => {
      const workers = await platform.database.reader.selectFrom('workers').select('stopping').execute();
      // That of the websites, and that of the webhooks.
      expect(workers).toEqual([{ stopping: true }, { stopping: true }]);
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(socket.closed).toBe(false);
  socket.destroy();
  expect(await stopped).toEqual([]);
});
