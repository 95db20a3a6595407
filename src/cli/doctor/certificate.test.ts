import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { readConfig } from '../../config/config.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { checkCertificate } from './certificate.ts';

const clock = manualClock(new Date('2026-06-01T00:00:00.000Z'));

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, 'tls'), { mode: 0o700 });
});
afterEach(() => folder.remove());

interface Case {
  configured?: boolean;
  /** Names of the certificate. */
  name?: string;
  /** Days from the clock's now. */
  from?: number;
  to?: number;
  /** Instead of what belongs there. */
  cert?: string;
  key?: string;
  keyMode?: number;
  environment?: Record<string, string>;
}

async function found({ configured = false, name = 'localhost', from = -1, to = 300, ...changes }: Case) {
  const pair = await createSelfSigned({
    names: [name],
    notBefore: new Date(clock.now().getTime() + from * DAY_MS),
    days: to - from,
  });
  const cert = join(folder.path, 'tls', 'api.crt');
  const key = join(folder.path, 'tls', 'api.key');
  writeFileSync(cert, changes.cert ?? pair.chain);
  writeFileSync(key, changes.key ?? pair.key, { mode: changes.keyMode ?? 0o600 });
  const config = readConfig({
    HOMEPORT_DATA_DIR: folder.path,
    ...(configured ? { HOMEPORT_TLS_CERT: cert, HOMEPORT_TLS_KEY: key } : {}),
    ...changes.environment,
  });
  return checkCertificate(config, clock);
}

const PUBLIC = { HOMEPORT_PUBLIC_URL: 'https://api.example.com' };
const PROXY = { ...PUBLIC, HOMEPORT_TRUST_PROXY: '10.0.0.1' };
const OTHER_KEY = (await createSelfSigned({ names: ['x'], notBefore: clock.now(), days: 1 })).key;

const cases: [string, Case, 'ok' | 'warning' | 'problem', string][] = [
  ['its own', {}, 'ok', '300 more days, and matches its key'],
  ['its own, which a running server would have renewed', { to: 20 }, 'warning', '20 more days only'],
  ['its own, expired', { from: -400, to: -3 }, 'problem', 'expired on 2026-05-29'],
  ['its own, for another host', { environment: PUBLIC }, 'warning', 'not for api.example.com'],
  [
    'its own, by address',
    { name: '127.0.0.1', environment: { HOMEPORT_PUBLIC_URL: 'https://127.0.0.1:8443' } },
    'ok',
    '',
  ],
  [
    'its own, for another address',
    { environment: { HOMEPORT_PUBLIC_URL: 'https://[::1]:8443' } },
    'warning',
    'not for ::1',
  ],
  [
    'its own, for a host of the internet',
    { name: 'api.example.com', environment: PUBLIC },
    'warning',
    'self-signed',
  ],
  ['its own, behind a proxy', { environment: PROXY }, 'ok', '300 more days'],
  ['its own, damaged', { cert: '-----BEGIN' }, 'problem', 'cannot be read'],
  [
    'a configured one',
    { configured: true, name: 'api.example.com', environment: PUBLIC },
    'ok',
    '300 more days',
  ],
  [
    'a configured one by wildcard',
    { configured: true, name: '*.example.com', environment: PUBLIC },
    'ok',
    '',
  ],
  [
    'a configured certificate that is not renewed',
    { configured: true, to: 10 },
    'warning',
    '10 more days only',
  ],
  ['a configured one of 20 days', { configured: true, to: 20 }, 'ok', '20 more days'],
  [
    'a configured one on its last day',
    { configured: true, from: -0.5, to: 0.5 },
    'warning',
    '0 more days only',
  ],
  ['a configured one, expired', { configured: true, from: -30.5, to: -0.5 }, 'problem', 'expired'],
  ['one of the future', { configured: true, from: 2 }, 'problem', 'valid from 2026-06-03'],
  ['one for another host', { configured: true, environment: PUBLIC }, 'problem', 'clients will refuse it'],
  ['one with the key of another', { configured: true, key: OTHER_KEY }, 'problem', 'do not match'],
  ['one with a key that is none', { configured: true, key: 'secret' }, 'problem', 'cannot be used'],
];

test.each(cases)('%s', async (_what, input, state, message) => {
  const findings = await found(input);
  expect(findings.at(-1)).toMatchObject({ check: 'certificate', state });
  expect(findings.at(-1)?.message).toContain(message);
  expect(findings.at(-1)?.remedy === null).toBe(state === 'ok');
  expect(JSON.stringify(findings)).not.toContain('secret');
});

test.each<[Case, 'ok' | 'problem']>([
  [{ keyMode: 0o600 }, 'ok'],
  [{ keyMode: 0o640 }, 'problem'],
  [{ keyMode: 0o604 }, 'problem'],
  [{ configured: true, keyMode: 0o640 }, 'ok'],
  [{ configured: true, keyMode: 0o644 }, 'problem'],
])('who may read the key: %o is %s', async (input, state) => {
  expect((await found(input))[0]).toMatchObject({ check: 'TLS key', state });
});

test('expects the next start to create its own, and requires a configured one', () => {
  const environment = { HOMEPORT_DATA_DIR: folder.path };
  expect(checkCertificate(readConfig(environment), clock)).toMatchObject([{ state: 'ok' }]);
  const missing = { HOMEPORT_TLS_CERT: join(folder.path, 'a'), HOMEPORT_TLS_KEY: join(folder.path, 'b') };
  expect(checkCertificate(readConfig({ ...environment, ...missing }), clock)).toMatchObject([
    { state: 'problem', message: expect.stringContaining('ENOENT') },
  ]);
});
