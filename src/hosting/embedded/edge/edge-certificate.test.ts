import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { createEdgeCertificate } from './edge-certificate.ts';

const log = pino({ level: 'silent' });
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-certificate-'));
  file = join(folder, 'edge.pem');
});
afterEach(() => rm(folder, { recursive: true }));

test('covers the site domain and its subdomains, is readable by the owner only, and is reused', async () => {
  const clock = manualClock();
  const options = { file, siteDomain: 'hosting.test', clock, log };
  const { pem } = await createEdgeCertificate(options).present();
  const certificate = new X509Certificate(pem);
  expect(certificate.subjectAltName).toBe('DNS:hosting.test, DNS:*.hosting.test');
  expect(certificate.validFromDate.getTime()).toBeLessThan(clock.now().getTime());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await createEdgeCertificate(options).present()).pem).toBe(pem);
});

test('is renewed a month before it expires, once for concurrent callers', async () => {
  const clock = manualClock();
  const own = createEdgeCertificate({ file, siteDomain: 'hosting.test', clock, log });
  const first = await own.present();
  const expires = new X509Certificate(first.pem).validToDate.getTime();
  clock.advance(expires - clock.now().getTime() - 31 * DAY_MS);
  expect(await own.present()).toBe(first);
  clock.advance(2 * DAY_MS);
  const [one, two] = await Promise.all([own.present(), own.present()]);
  expect(one).toBe(two);
  expect(one.pem).not.toBe(first.pem);
  expect(new X509Certificate(one.pem).validToDate.getTime()).toBeGreaterThan(expires + 300 * DAY_MS);
  expect(await readFile(file, 'utf8')).toBe(one.pem);
});

test.each([
  ['of another site domain', async () => (await otherPem('other.test')).pem],
  ['that cannot be read', async () => 'nonsense'],
  ['without its key', async () => (await otherPem('hosting.test')).pem.split('-----BEGIN PRIVATE')[0] ?? ''],
  [
    'followed by a broken one',
    async () =>
      `${(await otherPem('hosting.test')).pem}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`,
  ],
])('a certificate %s is replaced', async (_what, content) => {
  await writeFile(file, await content());
  const own = createEdgeCertificate({ file, siteDomain: 'hosting.test', clock: manualClock(), log });
  expect(new X509Certificate((await own.present()).pem).checkHost('a.hosting.test')).toBe('*.hosting.test');
});

function otherPem(siteDomain: string) {
  return createEdgeCertificate({
    file: join(folder, 'other.pem'),
    siteDomain,
    clock: manualClock(),
    log,
  }).present();
}
