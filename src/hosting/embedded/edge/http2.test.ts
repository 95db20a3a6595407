import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateFor, decoded, eventually, siteState } from '../../policy/edge.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { DEFAULT_CACHE_LIMITS } from './caches.ts';
import { CODINGS } from './content-coding.ts';

const CSS = 'body { color: rebeccapurple }\n'.repeat(300);
const LARGE = Buffer.alloc(DEFAULT_CACHE_LIMITS.file + 1, 'large ');
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
let site: TestHost;
let session: ClientHttp2Session;
const install = siteState('alpha');

beforeAll(async () => {
  site = await startHost();
  const certificate = await certificateFor('alpha.test', { now: site.clock.now() });
  const hostname = { redirectTo: null, forceHttps: true, certificate };
  await site.host.apply({ ...install, hostnames: [{ ...hostname, name: 'alpha.test' }] });
  await site.write(install, 'site.css', CSS);
  await site.write(install, 'large.bin', LARGE);
  const port = site.host.addresses?.edgeHttps.port ?? 0;
  session = connect(`https://127.0.0.1:${port}`, { servername: 'alpha.test', ca: certificate.chain });
});
afterAll(async () => {
  session.destroy();
  await site.close();
});

async function get(path: string, headers: OutgoingHttpHeaders = {}) {
  const stream = session.request({
    ':path': path,
    ':authority': 'alpha.test',
    'user-agent': BROWSER,
    ...headers,
  });
  const [head]: IncomingHttpHeaders[] = await once(stream, 'response');
  const bytes = await buffer(stream);
  return { status: head?.[':status'], headers: head ?? {}, bytes };
}

test.each(CODINGS)('a file in %s, and without it', async (coding) => {
  const answer = await get('/site.css', { 'accept-encoding': coding });
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-encoding': coding, vary: 'Accept-Encoding' },
  });
  expect(decoded(answer.bytes, coding).toString()).toBe(CSS);
  expect((await get('/site.css')).bytes.toString()).toBe(CSS);
  const tag = { 'if-none-match': answer.headers.etag, 'accept-encoding': coding };
  expect(await get('/site.css', tag)).toMatchObject({ status: 304, bytes: Buffer.of() });
});

test('large files, ranges, HEAD, missing pages and refused methods', async () => {
  const whole = await get('/large.bin');
  expect(whole.bytes.equals(LARGE)).toBe(true);
  const part = await get('/large.bin', { range: 'bytes=6-10' });
  expect({ ...part, bytes: part.bytes.toString() }).toMatchObject({ status: 206, bytes: 'large' });
  const head = await get('/large.bin', { ':method': 'HEAD' });
  expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(LARGE.length) } });
  expect((await get('/missing', { ':method': 'HEAD' })).status).toBe(404);
  expect((await get('/missing')).status).toBe(404);
  // Its answer closes a connection of HTTP/1.
  const refused = await get('/site.css', { ':method': 'DELETE' });
  expect(refused.status).toBe(405);
  expect(refused.headers.connection).toBeUndefined();
  expect(session.destroyed).toBe(false);
});

test('the host of a request decides, and there is one', async () => {
  expect((await get('/site.css', { ':authority': 'other.test' })).status).toBe(404);
  expect((await get('/site.css', { host: 'other.test' })).status).toBe(400);
  expect((await get('*', { ':method': 'OPTIONS' })).status).toBe(400);
});

test('requests are logged and counted as they were sent', async () => {
  const counted = async () => {
    const [day] = (await site.host.readUsage(null)).days;
    return { requests: day?.requests ?? 0, bytes: day?.bytes ?? 0, visits: day?.visits ?? 0 };
  };
  await get('/site.css');
  const before = await counted();
  const received = session.socket.bytesRead;
  for (let time = 0; time < 5; time++) await get('/site.css');
  await eventually(async () => (await counted()).requests === before.requests + 5);
  const { bytes, visits } = await counted();
  const sent = session.socket.bytesRead - received;
  expect(visits).toBe(1);
  expect(bytes - before.bytes).toBeGreaterThan(5 * CSS.length);
  expect(bytes - before.bytes).toBeLessThanOrEqual(sent + 200);
  const folder = layoutOf(site.folder).logsOf(install.id);
  const lines = async () =>
    (await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))).join('');
  await eventually(async () => (await lines()).includes('"host":"alpha.test"'));
  expect(await lines()).toMatch(
    /"method":"GET","scheme":"https","host":"alpha.test","path":"\/site.css","status":200/,
  );
});
