import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, it } from 'vitest';
import { startConnectProxy } from '../../../test/servers/connect-proxy.ts';
import { createAddressPolicy } from '../probe/address-policy.ts';
import { createPoster, type Poster } from './post.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}

function posterWith(mayContact: (address: string) => boolean, limitMs = 20_000): Poster {
  // `localhost` needs no query.
  const resolver = { servers: [], resolve: () => Promise.reject(new Error('no query is expected')) };
  const poster = createPoster({ resolver, mayContact, limitMs });
  ends.push(() => poster.close());
  return poster;
}

const messageTo = (url: string) => ({
  url,
  id: 'e1',
  timestamp: Math.floor(Date.now() / 1_000),
  body: '{"type":"webhook.test"}',
  secrets: [SECRET],
});

it('signs the message', async () => {
  const found = Promise.withResolvers<unknown>();
  const port = await serve((request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)]));
    request.on('data', (body: Buffer) => found.resolve(new Webhook(SECRET).verify(body.toString(), headers)));
    response.writeHead(204).end();
  });
  const attempt = await posterWith(() => true).post(messageTo(`http://127.0.0.1:${port}/`));
  expect(attempt).toMatchObject({ status: 204, error: null, timedOut: false });
  expect(await found.promise).toEqual({ type: 'webhook.test' });
});

it('connects to no address that the policy refuses, as a literal or behind a name', async () => {
  let requests = 0;
  const port = await serve((_request, response) => {
    requests += 1;
    response.end();
  });
  const poster = posterWith(createAddressPolicy([]));
  const errors = [];
  for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]']) {
    errors.push((await poster.post(messageTo(`http://${host}:${port}/`))).error);
  }
  expect(errors).toEqual([
    'localhost does not lead to a public address.',
    '127.0.0.1 is not a public address.',
    '::ffff:7f00:1 is not a public address.',
  ]);
  expect(requests).toBe(0);
});

it('checks the address at each connection, because a name can lead elsewhere later', async () => {
  let requests = 0;
  const port = await serve((_request, response) => {
    requests += 1;
    response.writeHead(204, { connection: 'close' }).end();
  });
  let isAllowed = true;
  const poster = posterWith((address) => isAllowed && address === '127.0.0.1');
  const message = messageTo(`http://localhost:${port}/`);
  expect((await poster.post(message)).error).toBeNull();
  isAllowed = false;
  expect((await poster.post(message)).error).toBe('localhost does not lead to a public address.');
  expect(requests).toBe(1);
});

it('reads no more than the beginning of an endless answer', async () => {
  const port = await serve((_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.writeHead(200).on('drain', write);
    write();
  });
  const attempt = await posterWith(() => true).post(messageTo(`http://127.0.0.1:${port}/`));
  expect(attempt).toMatchObject({ status: 200, error: null, responseBody: 'x'.repeat(500) });
});

it('gives up a receiver that does not answer, and names the host only', async () => {
  const port = await serve(() => {});
  const attempt = await posterWith(() => true, 50).post(messageTo(`http://127.0.0.1:${port}/secret?token=1`));
  expect(attempt).toMatchObject({ status: null, timedOut: true });
  expect(attempt.error).toContain(`127.0.0.1:${port} did not answer in time`);
  expect(attempt.error).not.toContain('secret');
});

it('asks a proxy for the address that was checked, with its login', async () => {
  const port = await serve((_request, response) => response.writeHead(204).end());
  const proxy = await startConnectProxy();
  ends.push(async () => proxy.close());
  const poster = posterThrough(proxy.url.replace('://', '://ada:p%40ss@'), '127.0.0.2');
  expect(await poster.post(messageTo(`http://hooks.test:${port}/`))).toMatchObject({
    status: 204,
    error: null,
  });
  expect(proxy.asked).toEqual([{ target: `127.0.0.2:${port}`, login: 'ada:p@ss' }]);
});

it('asks a proxy for no private address', async () => {
  const proxy = await startConnectProxy();
  ends.push(async () => proxy.close());
  const poster = posterThrough(proxy.url, '10.0.0.1', createAddressPolicy([]));
  for (const host of ['hooks.test', '192.168.0.1']) {
    const { error } = await poster.post(messageTo(`http://${host}/`));
    expect(error).toMatch(/public address\.$/);
  }
  expect(proxy.asked).toEqual([]);
});

it('names a proxy that speaks TLS in the handshake', async () => {
  const names: string[] = [];
  const proxy = createTlsServer({
    SNICallback(name, done) {
      names.push(name);
      done(new Error('this proxy has no certificate'));
    },
  });
  proxy.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  ends.push(async () => proxy.close());
  const address = proxy.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  const { error } = await posterThrough(`https://localhost:${address.port}/`, '127.0.0.2').post(
    messageTo('http://hooks.test/'),
  );
  expect(error).toBe('The proxy of this platform does not answer; ask the operator to check it.');
  expect(names).toEqual(['localhost']);
});

it('says that the proxy refuses or does not answer, without its address', async () => {
  const refusing = await startConnectProxy(407);
  ends.push(async () => refusing.close());
  const { error } = await posterThrough(refusing.url, '127.0.0.2').post(messageTo('http://hooks.test/'));
  expect(error).toBe('The proxy of this platform answered 407; ask the operator to let it connect.');
  const absent = await posterThrough('http://127.0.0.1:1/', '127.0.0.2').post(
    messageTo('http://hooks.test/'),
  );
  expect(absent.error).toBe('The proxy of this platform does not answer; ask the operator to check it.');
});

/** Finds `address` for every name. */
function posterThrough(proxy: string, address: string, mayContact = (_address: string) => true): Poster {
  const server = { host: '127.0.0.1', port: 53 };
  const poster = createPoster({
    resolver: {
      servers: [],
      resolve: async (name, type) => ({
        server,
        rcode: 'NOERROR',
        authoritative: false,
        answers:
          type === 'A'
            ? [{ type: 'A', hdr: { name, ttl: 1, rrtype: 1, class: 1, rdlength: 4 }, address }]
            : [],
        authorities: [],
        additionals: [],
      }),
    },
    mayContact,
    proxy: { HTTP_PROXY: proxy },
  });
  ends.push(() => poster.close());
  return poster;
}
