import { createServer, get, globalAgent } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silent } from '../../test/database.ts';
import { type ConnectProxy, startConnectProxy } from '../../test/servers/connect-proxy.ts';
import { startS3Server } from '../../test/servers/s3-server.ts';
import { createS3Client } from '../network/object-storage/s3.ts';
import { proxyFor, proxyOfPrograms, setOutboundProxy } from './outbound-proxy.ts';

let proxy: ConnectProxy;
let port: number;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  const server = createServer((request, response) => response.end(`${request.headers.host}${request.url}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  port = address.port;
  proxy = await startConnectProxy();
  ends.push(() => server.close(), proxy.close);
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const settings = (noProxy: string | null = null) => ({ httpProxy: proxy.url, httpsProxy: null, noProxy });

test('downloads go through the proxy, except to this machine and the hosts of NO_PROXY', async () => {
  ends.push(setOutboundProxy(settings('.direct.test')));
  const answer = await fetch(`http://wordpress.test:${port}/latest.zip`);
  expect(await answer.text()).toBe(`wordpress.test:${port}/latest.zip`);
  expect(await (await fetch(`http://127.0.0.1:${port}/own`)).text()).toBe(`127.0.0.1:${port}/own`);
  await expect(fetch(`http://mirror.direct.test:${port}/`)).rejects.toThrow();
  expect(proxy.asked).toEqual([{ target: `wordpress.test:${port}`, login: null }]);
});

test('parts of Homeport and domain checks connect directly', async () => {
  const before = globalAgent;
  ends.push(setOutboundProxy(settings()));
  expect(globalAgent).toBe(before);
  const answer = await new Promise<string>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/', headers: { host: 'customer.test' } }, (response) =>
      text(response).then(resolve, reject),
    );
  });
  expect(answer).toBe('customer.test/');
  expect(proxy.asked).toEqual([]);
});

test('object storage is reached through the proxy', async () => {
  const storage = await startS3Server();
  ends.push(() => storage.close(), setOutboundProxy(settings()));
  storage.put('media', 'a.txt', 'content');
  const client = await createS3Client(
    { endpoint: `http://s3.test:${storage.port}`, pathStyle: true, credentials: null, log: silent },
    'us-east-1',
    true,
  );
  ends.push(() => client.destroy());
  const { GetObjectCommand } = await import('@aws-sdk/client-s3');
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'media', Key: 'a.txt' }));
  expect(await Body?.transformToString()).toBe('content');
  expect(proxy.asked).toEqual([{ target: `s3.test:${storage.port}`, login: null }]);
});

test('programs get the proxy by its usual names', () => {
  ends.push(setOutboundProxy(settings('s3.internal')));
  expect(proxyOfPrograms()).toEqual({
    HTTP_PROXY: proxy.url,
    NO_PROXY: 'localhost,.localhost,127.0.0.1,::1,[::1],s3.internal',
  });
});

test('nothing changes without a proxy', () => {
  setOutboundProxy({ httpProxy: null, httpsProxy: null, noProxy: 'x' })();
  expect(proxyOfPrograms()).toEqual({});
});

test.each([
  ['https://example.com/', '', true],
  ['http://example.com/', '', false],
  ['https://example.com/', 'example.com', false],
  ['https://www.example.com/', 'example.com', true],
  ['https://www.example.com/', '.example.com', false],
  ['https://www.example.com/', '*.example.com', false],
  ['https://EXAMPLE.com/', 'other.test, Example.COM', false],
  ['https://example.com/', 'example.com:8443', true],
  ['https://example.com:8443/', 'example.com:8443', false],
  ['https://example.com/', '*', false],
  ['https://10.0.0.5/', '10.0.0.5', false],
  ['https://[::1]/', '[::1]', false],
])('%s without the hosts "%s": by proxy %s', (target, NO_PROXY, isProxied) => {
  const variables = { HTTPS_PROXY: 'http://proxy.test:3128/', NO_PROXY };
  expect(proxyFor(new URL(target), variables)?.host).toBe(isProxied ? 'proxy.test:3128' : undefined);
});
