import { createServer, type RequestListener } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, it } from 'vitest';
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
