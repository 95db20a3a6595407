import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../test/servers/free-port.ts';
import { certificateFor, eventually, sendRaw } from '../../policy/edge.fixture.ts';
import { createEdgeAuthority, createEdgeIdentity } from '../../remote/edge-identity.ts';
import { createClientIdentity } from '../../remote/identity.ts';
import { tablePaths } from './edge-options.ts';
import { type FleetServer, introduce, routeTo, startServers, type TestFleet } from './forwarding.fixture.ts';
import { siteState, startServer } from './nginx.fixture.ts';

const shop = siteState('shop', ['shop.test', '*.shop.test']);
const blog = siteState('blog', ['blog.test']);

let fleet: TestFleet;
let entry: FleetServer;
let serving: FleetServer;

beforeAll(async () => {
  fleet = await startServers(2);
  const [first, second] = fleet.servers;
  if (first === undefined || second === undefined) throw new Error('no servers');
  [entry, serving] = [first, second];
  await serving.web.put(await serving.makeInstall(shop));
  await serving.write(shop, 'style.css', 'body{}');
  await entry.web.put(await entry.makeInstall(blog, { php: false }));
  await entry.write(blog, 'who.txt', 'blog');
  await entry.web.setRoutes([routeTo(shop, serving.hostId)]);
});
afterAll(() => fleet.close());

const page = async (hostname: string, path: string, asked = {}) =>
  Object(JSON.parse((await entry.http(hostname, path, asked)).text));

/** One request at the listener for other edges, never from the page cache. */
async function askListener(
  tls: { cert?: string; key?: string; ca?: string },
  headers: Record<string, string> = {},
) {
  const { port } = serving.options.edgeForward;
  const request = httpsRequest({
    ...{ host: '127.0.0.1', port, path: `/?server=${randomUUID()}`, agent: false, rejectUnauthorized: false },
    ...tls,
    headers: { Host: 'shop.test', ...headers },
  }).end();
  const [response] = await once(request, 'response');
  return { status: Number(response.statusCode), text: await text(response) };
}

test('a page, a stylesheet and an unknown path come from the host that serves the name', async () => {
  expect(await page('shop.test', '/')).toMatchObject({ HTTP_HOST: 'shop.test', REQUEST_METHOD: 'GET' });
  expect(await entry.http('shop.test', '/style.css')).toMatchObject({ status: 200, text: 'body{}' });
  expect((await entry.http('a.shop.test', '/style.css')).text).toBe('body{}');
  expect((await entry.http('a.b.shop.test', '/style.css')).status).toBe(404);
  expect((await entry.http('blog.test', '/who.txt')).text).toBe('blog');
  expect((await serving.http('blog.test', '/who.txt')).status).toBe(404);
});

test('PHP and the access log see the visitor', async () => {
  const name = 'shop.test:8080';
  expect(await page(name, '/?who=1', { headers: { 'X-Forwarded-For': '9.9.9.9' } })).toMatchObject({
    REMOTE_ADDR: '127.0.0.1',
    HTTP_HOST: name,
    SERVER_PORT: String(entry.options.edgeHttp.port),
    REQUEST_URI: '/?who=1',
  });
  const secure = await entry.https('shop.test', '/?secure=1');
  expect(Object(JSON.parse(secure.text))).toMatchObject({ HTTPS: 'on', REMOTE_ADDR: '127.0.0.1' });
  expect(await page('shop.test', '/?plain=1')).not.toHaveProperty('HTTPS');
  await eventually(() => serving.requests.length >= 3);
  expect(serving.requests.at(-1)).toMatchObject({ installId: shop.id, address: '127.0.0.1' });
  expect(entry.requests.filter(({ installId }) => installId === shop.id)).toEqual([]);
});

test('nothing that a visitor sends says who the visitor is', async () => {
  const forged = {
    'X-Homeport-Visitor': '203.0.113.9:1',
    'X-Homeport-Scheme': 'https',
    'X-Homeport-Passed': serving.hostId,
    'X-Homeport-Server-Port': '1',
  };
  for (const ask of [entry.http, serving.http]) {
    const seen = Object(JSON.parse((await ask('shop.test', '/?server', { headers: forged })).text));
    expect(seen.REMOTE_ADDR).toBe('127.0.0.1');
    expect(Object.keys(seen).filter((name) => name.startsWith('HTTP_X_HOMEPORT'))).toEqual([]);
  }
});

test('bodies pass in both directions: with a length, in chunks, and large', async () => {
  for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
    expect(await page('shop.test', '/', { method: 'POST', body: 'x'.repeat(70_000), headers })).toMatchObject(
      {
        REQUEST_METHOD: 'POST',
        length: 70_000,
      },
    );
  }
  expect(await page('shop.test', '/', { method: 'POST', body: randomBytes(50_000_000) })).toMatchObject({
    length: 50_000_000,
  });
  const { status } = await entry.http('shop.test', '/', { method: 'POST', body: Buffer.alloc(80_000_000) });
  expect(status).toBe(413);
  await serving.write(shop, 'large.bin', randomBytes(20_000_000));
  expect((await entry.http('shop.test', '/large.bin')).bytes.length).toBe(20_000_000);
});

test('HTTP/2 ends here, and the other host learns of it', async () => {
  const session = connectHttp2(`https://127.0.0.1:${entry.options.edgeHttps.port}`, {
    rejectUnauthorized: false,
  });
  const stream = session.request({ ':path': '/?h2=1', ':authority': 'shop.test', ':method': 'POST' });
  stream.end('x'.repeat(100));
  expect(JSON.parse(await text(stream))).toMatchObject({ length: 100, HTTPS: 'on', HTTP_HOST: 'shop.test' });
  session.close();
});

test('visitors get the certificate of a name at any edge, and its renewal', async () => {
  const shown = async () => {
    const { port } = entry.options.edgeHttps;
    const socket = tlsConnect({
      host: '127.0.0.1',
      port,
      servername: 'safe.test',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const fingerprint = ({ chain }: { chain: string }) => new X509Certificate(chain).fingerprint256;
  const state = async () => {
    const certificate = await certificateFor('safe.test');
    return { certificate, safe: siteState('safe', [{ name: 'safe.test', certificate, forceHttps: true }]) };
  };
  const { certificate, safe } = await state();
  await serving.web.put(await serving.makeInstall(safe, { php: false }));
  await entry.web.setRoutes([routeTo(safe, serving.hostId)]);
  expect(await shown()).toBe(fingerprint(certificate));
  const redirect = await entry.http('safe.test', '/a?b');
  expect([redirect.status, redirect.headers.location]).toEqual([301, 'https://safe.test/a?b']);

  const renewed = { ...(await state()).safe, id: safe.id };
  await entry.web.setRoutes([routeTo(renewed, serving.hostId)]);
  expect(await shown()).toBe(fingerprint(renewed.hostnames[0]?.certificate ?? certificate));
  await entry.web.repair();
  expect(await shown()).toBe(fingerprint(renewed.hostnames[0]?.certificate ?? certificate));
  const { certificates } = tablePaths(entry.layout);
  expect((await readdir(certificates)).filter((name) => name.endsWith('.key'))).toHaveLength(1);
  await entry.web.setRoutes([routeTo(safe, null)]);
  expect((await readdir(certificates)).filter((name) => name.endsWith('.key'))).toHaveLength(0);
  expect(await shown()).not.toBe(fingerprint(certificate));
});

test('a challenge is answered by the host that serves the name', async () => {
  const proof = { hostname: 'shop.test', path: '/.well-known/acme-challenge/token', text: 'proof' };
  await serving.web.publish(proof);
  expect((await entry.http('shop.test', proof.path)).text).toBe('proof');
  await serving.web.withdraw(proof);
  expect((await entry.http('shop.test', `/.well-known/homeport/${shop.id}/0`)).status).toBe(404);
});

test('refuses to become a WebSocket', async () => {
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket' };
  expect((await entry.http('shop.test', '/?status=101', { headers: upgrade })).status).toBe(502);
});

test('a cached page is shared by visitors of both hosts, and a purge reaches both', async () => {
  const times = async () => [
    Object(JSON.parse((await entry.http('shop.test', '/cached/')).text)).time,
    Object(JSON.parse((await serving.http('shop.test', '/cached/')).text)).time,
  ];
  const [first, ...others] = await times();
  expect([...others, ...(await times())]).toEqual([first, first, first]);
  await serving.web.purge(shop.id);
  const [fresh, same] = await times();
  expect(fresh).not.toBe(first);
  expect(same).toBe(fresh);
});

test('only edges of this fleet are heard at the listener for them', async () => {
  const identity = await createEdgeIdentity(fleet.authority, entry.hostId, new Date());
  const known = { cert: identity.certificate, key: identity.key };
  const claims = { 'X-Homeport-Visitor': '203.0.113.9:4711', 'X-Homeport-Scheme': 'http' };
  expect(Object(JSON.parse((await askListener(known, claims)).text)).REMOTE_ADDR).toBe('203.0.113.9');
  const six = { ...claims, 'X-Homeport-Visitor': '[2001:db8::9]:4711' };
  expect(Object(JSON.parse((await askListener(known, six)).text)).REMOTE_ADDR).toBe('2001:db8::9');
  expect((await askListener(known)).status).toBe(400);
  for (const wrong of [{ 'X-Homeport-Scheme': 'ftp' }, { 'X-Homeport-Visitor': '203.0.113.9:' }]) {
    expect((await askListener(known, { ...claims, ...wrong })).status).toBe(400);
  }

  expect((await askListener({}, claims)).status).toBe(400);
  const removed = await createEdgeIdentity(fleet.authority, randomUUID(), new Date());
  expect((await askListener({ cert: removed.certificate, key: removed.key }, claims)).status).toBe(403);
  for (const stranger of [
    await createEdgeIdentity(await createEdgeAuthority(new Date()), entry.hostId, new Date()),
    await createClientIdentity(fleet.authority, new Date()),
  ]) {
    const { status } = await askListener({ cert: stranger.certificate, key: stranger.key }, claims);
    expect(status).toBeGreaterThanOrEqual(400);
  }
});

test('this edge sends requests only to the host that it means', async () => {
  const impostor = await startServer();
  try {
    await impostor.web.start([]);
    const identity = await createEdgeIdentity(fleet.authority, randomUUID(), new Date());
    await impostor.web.joinEdges(identity, []);
    await entry.web.joinEdges(null, [{ hostId: serving.hostId, ...impostor.options.edgeForward }]);
    expect(await entry.http('shop.test', '/style.css')).toMatchObject({ status: 502 });
  } finally {
    await introduce(fleet, entry);
    await impostor.close();
  }
  expect((await entry.http('shop.test', '/style.css')).status).toBe(200);
});

test('reaches an edge at an IPv6 address', async () => {
  const edgeForward = { host: '::1', port: await freePort() };
  const six = { ...(await startServer({ edgeForward })), hostId: randomUUID() };
  try {
    await six.web.start([]);
    const remote = siteState('six', ['six.test']);
    await six.web.put(await six.makeInstall(remote, { php: false }));
    await six.write(remote, 'who.txt', 'six');
    await introduce({ authority: fleet.authority, servers: [entry, six] }, six);
    await introduce({ authority: fleet.authority, servers: [entry, serving, six] }, entry);
    await entry.web.setRoutes([routeTo(remote, six.hostId)]);
    expect((await entry.http('six.test', '/who.txt')).text).toBe('six');
    await entry.web.setRoutes([routeTo(remote, null)]);
  } finally {
    await introduce(fleet, entry);
    await six.close();
  }
});

test('two hosts that each believe the other serves a name answer with an error', async () => {
  const lost = siteState('lost', ['lost.test']);
  await entry.web.setRoutes([routeTo(lost, serving.hostId)]);
  expect((await entry.http('lost.test', '/')).status).toBe(404);
  await serving.web.setRoutes([routeTo(lost, entry.hostId)]);
  const answer = await entry.http('lost.test', '/');
  expect(answer).toMatchObject({ status: 502 });
  expect(answer.text).toContain('does not answer');
  for (const { web } of fleet.servers) await web.setRoutes([routeTo(lost, null)]);
  expect((await entry.http('lost.test', '/')).status).toBe(404);
});

test('a website moves without a failed request: the route first, then its own row goes', async () => {
  const moving = siteState('moving', ['moving.test']);
  const old = await serving.makeInstall(moving, { php: false });
  await serving.write(moving, 'who.txt', 'old');
  await serving.web.put(old);
  const statuses = new Set<number>();
  let isMoving = true;
  const visits = (async () => {
    while (isMoving) statuses.add((await serving.http('moving.test', '/who.txt')).status);
  })();
  const fresh = await entry.makeInstall(moving, { php: false });
  await entry.write(moving, 'who.txt', 'new');
  await entry.web.put(fresh);
  await serving.web.setRoutes([routeTo(moving, entry.hostId)]);
  expect((await serving.http('moving.test', '/who.txt')).text).toBe('old');
  await serving.web.remove(moving.id);
  expect((await serving.http('moving.test', '/who.txt')).text).toBe('new');
  isMoving = false;
  await visits;
  expect([...statuses]).toEqual([200]);
});

test('says which other edges it cannot reach', async () => {
  expect(await entry.web.checkOtherEdges()).toEqual([]);
  const port = await freePort();
  const stranger = randomUUID();
  await entry.web.joinEdges(null, [
    { hostId: serving.hostId, host: '127.0.0.1', port },
    { hostId: stranger, ...serving.options.edgeForward },
  ]);
  const faults = await entry.web.checkOtherEdges();
  expect(faults.find((fault) => fault.startsWith(`The edge of the host ${serving.hostId}`))).toContain(
    'ECONNREFUSED',
  );
  expect(faults.find((fault) => fault.startsWith(`The edge of the host ${stranger}`))).toContain(
    'cannot be reached',
  );
  await serving.web.joinEdges(null, []);
  await introduce(fleet, entry);
  expect(await entry.web.checkOtherEdges()).toEqual([
    `The edge at 127.0.0.1:${serving.options.edgeForward.port} does not know this host yet.`,
  ]);
  await introduce(fleet, serving);
});

test('another host that is down costs its own websites only, and routes survive restarts', async () => {
  const [nginx] = (await serving.daemons.list()).filter(({ name }) => name === 'nginx');
  await serving.daemons.remove('nginx');
  expect(nginx).toBeDefined();
  const answer = await entry.http('shop.test', '/style.css');
  expect(answer.status).toBe(502);
  expect(answer.text).toContain('This website does not answer');
  expect((await entry.http('blog.test', '/who.txt')).status).toBe(200);
  await serving.web.repair();
  await entry.daemons.remove('nginx');
  await entry.web.repair();
  expect((await entry.http('shop.test', '/style.css')).text).toBe('body{}');
  expect(await entry.web.heldRoutes(null)).toEqual([
    { installId: shop.id, digest: routeTo(shop, serving.hostId).digest },
  ]);
});

test('without a usable identity, an edge serves its own websites and asks for another one', async () => {
  const { identity } = tablePaths(entry.layout);
  const former = await readFile(identity, 'utf8');
  const foreign = await createEdgeIdentity(await createEdgeAuthority(new Date()), entry.hostId, new Date());
  for (const damaged of [former.slice(0, 300), `${foreign.certificate}${foreign.key}`]) {
    await writeFile(identity, damaged);
    expect((await entry.web.forwarding())?.identity).toBe(null);
    await entry.daemons.remove('nginx');
    await entry.web.repair();
    expect((await entry.http('blog.test', '/who.txt')).text).toBe('blog');
    await introduce(fleet, entry);
    expect((await entry.http('shop.test', '/style.css')).text).toBe('body{}');
  }
});

test('a raw stranger at the listener gets no answer of a website', async () => {
  const { port } = serving.options.edgeForward;
  expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  const socket = tlsConnect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
});
