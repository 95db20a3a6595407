import { expect, test } from 'vitest';
import type { AccessEntry } from '../../contract/logs.ts';
import { accessEntry, createAccessLogs } from './access-logs.ts';
import { parseUsageLine, type UsageLine } from './usage-lines.ts';

const ONE = '0a000000-0000-4000-8000-000000000001';
const TWO = '0a000000-0000-4000-8000-000000000002';

function line(changes: { id?: string; address?: string; at?: number; upstream?: string } = {}): UsageLine {
  const { id = ONE, address = '192.0.2.77', at = 1_770_000_000.25, upstream = '0.010, 0.002 : -' } = changes;
  const fields = [id, at, 512, address, 'Firefox', '200', 'GET', 'https', 'shop.test', '/shop/'];
  const parsed = parseUsageLine(JSON.stringify([...fields, 'https://a.test/', 'MISS', 0.031, upstream]));
  if (parsed === null) throw new Error('not a line');
  return parsed;
}

test('an entry has the times and the address', () => {
  expect(accessEntry(line(), true)).toEqual({
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
    user_agent: 'Firefox',
    referrer: 'https://a.test/',
  });
  expect(accessEntry(line({ upstream: '' }), false)).toMatchObject({
    php_seconds: null,
    address: '192.0.2.0',
  });
  expect(accessEntry(line({ address: 'unix:' }), true)).toMatchObject({ address: 'unknown' });
});

test('each install has its own entries, in the order of their times', async () => {
  const written = new Map<string, string[]>();
  const logs = createAccessLogs(
    {
      async append(_kind, installId, entries: readonly object[]) {
        const times = entries.map((entry) => ('time' in entry ? String(entry.time) : ''));
        written.set(installId, [...(written.get(installId) ?? []), ...times]);
      },
    },
    { wholeAddresses: true },
  );
  await logs.append([line({ at: 2 }), line({ id: TWO, at: 3 }), line({ at: 1 })]);
  const iso = (seconds: number): AccessEntry['time'] => new Date(seconds * 1000).toISOString();
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
