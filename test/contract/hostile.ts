import fc, { type Arbitrary } from 'fast-check';
import { anyCharacter } from '../any-character.ts';

/** Requests that no client should send, for generator-driven tests. */

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\t\n\r',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202egnp.exe',
  'é\u0301\u0301\u0301',
  '👩‍👩‍👧‍👦'.repeat(40),
  'x'.repeat(41),
  'x'.repeat(100_000),
  '\u00a0'.repeat(1_000),
  '../../../../etc/passwd',
  "'; drop table sites; --",
  '" or ""="',
  '%s%n%d',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: sent as it is
  '${7*7}{{7*7}}',
  '<script>alert(1)</script>',
  'a\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '1e309',
  '١٢٣',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '{00000000-0000-0000-0000-000000000000}',
  '*.example.com',
  '*',
  'localhost',
  '127.0.0.1',
  '[::1]',
  'xn--',
  'xn--a',
  'ex ample.com',
  'a@b',
  `${'a'.repeat(64)}@example.com`,
  '"a b"@example.com',
  'a@example.com\nbcc: b@example.com',
  'ssh-ed25519 AAAA',
  `ssh-rsa ${'A'.repeat(20_000)}`,
  'owner,full,partial',
  'nil',
];

export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  // Single code units, including lone surrogates.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
  fc.uuid(),
  fc.domain(),
  fc.emailAddress(),
);

const hostileValue: Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, [], {}, [[]], [null], {
    a: { b: {} },
  }),
  fc.array(hostileText, { maxLength: 30 }),
  fc.dictionary(
    fc.oneof(fc.constantFrom('__proto__', 'constructor', 'name', 'id', ''), fc.string()),
    hostileText,
    {
      maxKeys: 5,
    },
  ),
  fc.constantFrom(1_000, 50_000).map((length) => Array.from({ length }, () => 'x')),
  fc.jsonValue({ maxDepth: 4 }),
);

/** JSON texts that are special as texts. */
const HOSTILE_JSON = [
  '',
  ' ',
  'null',
  '0',
  '""',
  '[]',
  '[{}]',
  '{',
  '{"name":',
  '{"name":"x"}}',
  '{"name":"x"} {"name":"y"}',
  '{"name":"x","name":"y","name":{}}',
  "{'name':'x'}",
  '{"name":NaN}',
  '{"name":1e999,"account_id":-1e999}',
  '{"name":"\\ud800","account_id":"\\udfff"}',
  '{"name":"\\u0000"}',
  '\ufeff{"name":"x"}',
  '{"__proto__":{"name":"x","account_id":"y"}}',
  '{"__proto__":null,"constructor":{"prototype":{"polluted":true}}}',
  '{"user":{"__proto__":{"roles":"owner"}},"__proto__":{"polluted":true}}',
  '{"constructor":"x","hasOwnProperty":1,"toString":null,"valueOf":[]}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)},"user":${'{"user":'.repeat(50_000)}{}${'}'.repeat(50_000)}}`,
  `{"name":"${'x'.repeat(1024 * 1024)}"}`,
  `{${Array.from({ length: 30_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
];

export const hostileJson: Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(...HOSTILE_JSON).map((text) => Buffer.from(text)),
  fc.constantFrom(...HOSTILE_JSON).map((text) => Buffer.from(text, 'utf16le')),
  fc.string({ unit: anyCharacter }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

/** A change to a valid body, at the member with this path of names. An empty path is the body itself. */
interface Change {
  path: string[];
  what: { kind: 'replace' | 'add'; value: unknown } | { kind: 'remove' };
}

/** One to three changes to bodies that are like `valid`. */
export function changesTo(valid: unknown): Arbitrary<Change[]> {
  const change = fc.record({
    path: fc.constantFrom(...pathsIn(valid)),
    what: fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('replace' as const), value: hostileValue }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), value: hostileValue }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'remove' as const }) },
    ),
  });
  return fc.array(change, { minLength: 1, maxLength: 3 });
}

function pathsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([name, member]) => pathsIn(member).map((path) => [name, ...path])),
  ];
}

/** A body with the changes made, as far as earlier ones left the way to the member. */
export function changed(body: unknown, changes: Change[]): unknown {
  const holder = { body: structuredClone(body) };
  for (const { path, what } of changes) {
    const names = ['body', ...path];
    const last = names.pop() ?? 'body';
    let parent: unknown = holder;
    for (const name of names)
      parent = typeof parent === 'object' && parent !== null ? Reflect.get(parent, name) : undefined;
    if (typeof parent !== 'object' || parent === null) continue;
    if (what.kind === 'remove') Reflect.deleteProperty(parent, last);
    else Reflect.set(parent, what.kind === 'add' ? `${last} too` : last, structuredClone(what.value));
  }
  return holder.body;
}

/** A piece of a path as it goes over the wire: visible ASCII, no slash, and short enough for all headers together. */
export const hostileSegment: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    '%2e%2e',
    '..%2f..%2fetc',
    '%',
    '%0',
    '%zz',
    '%00',
    '%0d%0aSet-Cookie:%20a=b',
    '%ff%fe',
    '%c0%ae',
    '%ed%a0%80',
    '%25%32%35',
    '%u0041',
    ';',
    ':install_id',
    '*',
    '__proto__',
    'constructor',
    'bulk',
    'check_status',
    'a'.repeat(3_000),
    '%41'.repeat(1_000),

    '{id}',
    '"',
    '|',
    '\\',
  ),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => `${id}%20`),
  hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3_000)),
);

const hostileQueryValue = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e3',
    '100',
    '101',
    '99999999999999999999',
    '%D9%A3',
    '%',
    '%zz',
    '%00',
    '%ff',
    '[]',
    'null',
    '+1',
  ),
  hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
);

export const hostileQuery: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc
    .array(
      fc.tuple(
        fc.constantFrom('limit', 'offset', 'account_id', 'limit[]', '__proto__', 'a'),
        hostileQueryValue,
      ),
      {
        maxLength: 6,
      },
    )
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  fc.constantFrom(
    '?',
    '??',
    '?&&&=&=',
    '?limit',
    '?=1',
    `?${'a=1&'.repeat(1_500)}`,
    `?limit=${'9'.repeat(4_000)}`,
    '#?limit=x',
  ),
);

/** Header values as they go over the wire: no control characters but tabs. */
export const hostileHeaders: Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.record(
    {
      'content-type': fc.constantFrom(
        'application/json',
        'application/json; charset=utf-16',
        'application/json; charset="',
        'application/json;;;=',
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/x-www-form-urlencoded',
        '*/*',
        'nonsense',
        ';',
        'a/b'.repeat(500),
      ),
      'content-encoding': fc.constantFrom('gzip', 'br', 'nonsense'),
      accept: fc.constantFrom('text/html', 'application/xml', '', '*/*;q=nonsense'),
      'accept-encoding': fc.constantFrom('gzip', 'br;q=0.5, gzip;q=0.4', '*', 'nonsense;q=2', ',;='),
      'accept-version': fc.constantFrom('1.0.0', '*'),
      'x-http-method-override': fc.constantFrom('DELETE', 'TRACE'),
      'x-forwarded-for': fc.constantFrom('127.0.0.1', 'nonsense', ','.repeat(1_000)),
      'x-forwarded-proto': fc.constantFrom('http', 'https, http', '\u00ff'),
      'x-request-id': fc.constantFrom('a', '\u00ff'.repeat(100)),
      'if-none-match': fc.constantFrom('*', '"x"', ','.repeat(1_000), '"'.repeat(1_001)),
      'if-match': fc.constantFrom('*', '"x"', 'W/"x"', 'x', '"'.repeat(1_001)),
      'idempotency-key': fc.constantFrom('one', '"one"', 'two words', '', 'x'.repeat(256), '\u00ff'),
      range: fc.constantFrom('bytes=0-0', 'bytes=-1', 'nonsense'),
      origin: fc.constantFrom('null', 'https://elsewhere.example'),
      cookie: fc.constantFrom('a=b', ';'.repeat(500)),
    },
    { requiredKeys: [] },
  ),
);
