import { afterEach, beforeEach, expect, test } from 'vitest';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { createWebServer } from './web-server.ts';

// What a customer may do to one website keeps no other from being served.

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

test('no name of a website takes nginx’s word from the host', async () => {
  const names = ['homeport.invalid', '*.invalid', '*.homeport.invalid', 'localhost', '127.0.0.1'];
  const odd = await server.makeInstall(siteState('odd', names), { php: false });
  const plain = await server.makeInstall(siteState('plain', ['plain.test']), { php: false });
  for (const one of [odd, plain]) await server.write(one.state, 'who.txt', one.state.name);
  await server.web.start([odd]);
  await server.web.put(plain);
  expect((await server.http('homeport.invalid', '/who.txt')).text).toBe('odd');
  expect((await server.http('plain.test', '/who.txt')).text).toBe('plain');
  await server.web.stop();
  const again = createWebServer(server.options);
  await again.start([odd, plain]);
  await again.stop();
});
