import { expect, test } from 'vitest';
import { accessLine, createAccessLogs } from '../../websites/logs/access-logs.ts';
import { parseUsageLine, type UsageLine } from './usage-lines.ts';

const ONE = '0a000000-0000-4000-8000-000000000001';
const TWO = '0a000000-0000-4000-8000-000000000002';

const FIELDS = {
  id: ONE,
  at: 1_770_000_000.25,
  bytes: 512,
  address: '192.0.2.77',
  agent: 'Mozilla/5.0 (X11; rv:140.0)',
  status: '200',
  method: 'GET',
  scheme: 'https',
  host: 'shop.test',
  path: '/shop/',
  referrer: 'https://a.test/',
  cache: 'MISS',
  seconds: 0.031,
  upstream: '0.012',
};
const ENTRY = {
  time: '2026-02-02T02:40:00.250Z',
  address: '192.0.2.77',
  method: 'GET',
  scheme: 'https',
  host: 'shop.test',
  path: '/shop/',
  status: 200,
  bytes: 512,
  cache: 'MISS',
  seconds: 0.031,
  php_seconds: 0.012,
  user_agent: 'Mozilla/5.0 (X11; rv:140.0)',
  referrer: 'https://a.test/',
};

/** As nginx writes it, with three decimals. */
function line(changes: Partial<typeof FIELDS> = {}): UsageLine {
  const texts = Object.entries({ ...FIELDS, ...changes }).map(([name, value]) =>
    typeof value === 'number' && name !== 'bytes' ? value.toFixed(3) : JSON.stringify(value),
  );
  const parsed = parseUsageLine(`[${texts.join(',')}]`);
  if (parsed === null) throw new Error('not a line');
  return parsed;
}

const DECEIVING = 'a\u202eb\u0085"]\\\n';

test.each<[string, Partial<typeof FIELDS>, Partial<Record<keyof typeof ENTRY, unknown>>]>([
  ['a page of PHP', {}, {}],
  ['a file', { cache: '', upstream: '' }, { cache: null, php_seconds: null }],
  ['an entry without browser and referrer', { agent: '', referrer: '' }, { user_agent: '', referrer: '' }],
  ['several servers', { upstream: '0.010, 0.002 : -' }, {}],
  ['no answer', { status: '000', upstream: '-' }, { status: 0, php_seconds: null }],
  ['HTTP/0.9', { status: '009' }, { status: 9 }],
  ['a long method', { method: 'M'.repeat(40) }, { method: 'M'.repeat(32) }],
  ['IPv6', { address: '2001:db8::1' }, { address: '2001:db8::1' }],
  ['an address in another form', { address: '::ffff:192.0.2.77' }, {}],
  ['no address', { address: 'unix:' }, { address: 'unknown' }],
  ['texts to escape', { agent: DECEIVING, path: '/ä' }, { user_agent: DECEIVING, path: '/ä' }],
])('the entry of %s', (_name, changes, expected) => {
  const text = accessLine(line(changes), true);
  expect(text).toMatch(/^\{"time":"[^"]{24}","address":"[^"]+","method":"[^\p{Cc}\p{Bidi_Control}]+\}\n$/u);
  expect(JSON.parse(text)).toEqual({ ...ENTRY, ...expected });
  expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(ENTRY));
});

test('an address can be shortened at once', () => {
  expect(JSON.parse(accessLine(line(), false)).address).toBe('192.0.2.0');
});

test('each install has its own entries, in the order of their times', async () => {
  const written = new Map<string, string[]>();
  const logs = createAccessLogs(
    {
      async appendLines(_kind, installId, day, lines) {
        const times = lines.map((text): string => JSON.parse(text).time);
        expect(times.every((time) => time.startsWith(day))).toBe(true);
        written.set(installId, [...(written.get(installId) ?? []), ...times]);
      },
    },
    { wholeAddresses: true },
  );
  await logs.append([line({ at: 2 }), line({ id: TWO, at: 3 }), line({ at: 1 })]);
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
  expect(written).toEqual(
    new Map([
      [ONE, [iso(1), iso(2)]],
      [TWO, [iso(3)]],
    ]),
  );
});

test.each(['', '[]', '{}', '["a",1,2,"b","c"]', 'x'])('%j is no line of nginx', (text) => {
  expect(parseUsageLine(text)).toBeNull();
});
