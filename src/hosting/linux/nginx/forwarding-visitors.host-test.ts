import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../policy/edge.fixture.ts';
import { type FleetServer, routeTo, startServers, type TestFleet } from './forwarding.fixture.ts';
import { siteState } from './nginx.fixture.ts';

const shop = siteState('shop', ['shop.test']);
const blog = siteState('blog', ['blog.test']);

let fleet: TestFleet;
let entry: FleetServer;
let serving: FleetServer;

beforeAll(async () => {
  fleet = await startServers(2, { trustedProxies: [[ipaddr.parse('127.0.0.9'), 32]] });
  const [first, second] = fleet.servers;
  if (first === undefined || second === undefined) throw new Error('no servers');
  [entry, serving] = [first, second];
  await serving.web.put(await serving.makeInstall(shop));
  await serving.web.put(await serving.makeInstall(blog, { php: false }));
  await serving.write(blog, 'who.txt', 'blog');
  await entry.web.setRoutes([routeTo(shop, serving.hostId), routeTo(blog, serving.hostId)]);
});
afterAll(() => fleet.close());

/** The address that PHP of the website sees, if a trusted proxy in front of the other edge names this one. */
async function addressBehindProxy(named: string): Promise<string> {
  const { host, port } = entry.options.edgeHttp;
  const socket = connect({ host, port, localAddress: '127.0.0.9' });
  socket.write(
    [
      `GET /?address=${encodeURIComponent(named)} HTTP/1.1`,
      ...['Host: shop.test', `X-Forwarded-For: ${named}`, 'Connection: close', '', ''],
    ].join('\r\n'),
  );
  const answer = await text(socket);
  return /"REMOTE_ADDR":"([^"]*)"/.exec(answer)?.[1] ?? answer;
}

test.each(['203.0.113.9', '2001:db8::9', '203.0.113.9:4711', '[2001:db8::9]:4711'])(
  'a proxy in front of another edge names the visitor: %s',
  async (named) => {
    expect(await addressBehindProxy(named)).toBe(named.replace(/^\[|\]?:4711$/g, ''));
  },
);

test('visitors of one website do not take all requests to another edge', async () => {
  const { port } = entry.options.edgeHttp;
  const sockets: Socket[] = [];
  /** A request that does not end. From several addresses, because each has a limit. */
  const begin = () => {
    const localAddress = `127.0.0.${2 + (sockets.length % 4)}`;
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => {}).resume();
    socket.write('POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 9\r\n\r\nslow');
    sockets.push(socket);
  };
  try {
    // In parts: a busy machine refuses connections between edges that are opened all at once.
    await eventually(async () => {
      for (let count = 0; count < 64; count++) begin();
      return (await entry.http('shop.test', '/?more')).status === 429;
    });
    expect((await entry.http('blog.test', '/who.txt')).text).toBe('blog');
    expect((await serving.http('shop.test', '/?direct')).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await eventually(async () => (await entry.http('shop.test', '/?after')).status === 200);
});
