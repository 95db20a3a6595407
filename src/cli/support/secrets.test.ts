import { describe, expect, it } from 'vitest';
import { redactor } from './secrets.ts';
import { secretsOf, shownSettings } from './shown-settings.ts';

const TOKEN = 'Zk3vXq9TtR2mLw8bYc5nPd7sHf4gJa1e';
/** One in 200 tokens has no digit. */
const LETTERS = 'ZkvXqTtRmLwbYcnPdsHfgJaeQwErTyUi';

describe('removes what looks like a secret', () => {
  it.each([
    ['a path with a token', `{"url":"/password/${TOKEN}"}`, TOKEN],
    ['a link of this machine', `https://localhost/invitations/${TOKEN}`, TOKEN],
    ['a link below a folder', `https://example.com/homeport/${TOKEN}`, TOKEN],
    ['a token without digits', `https://example.com/password/${LETTERS}`, LETTERS],
    ['an @ in a password', 'postgres://homeport:p@ss-part@db/x failed', 'ss-part'],
    ['a slash in a password', 'postgres://homeport:pa/ss-part@db/x failed', 'ss-part'],
    ['a slash after digits', 'postgres://homeport:1234/ss-part@db/x failed', 'ss-part'],
    ['the second of two addresses', 'https://a.example/,https://me:hunter2@b.example/', 'hunter2'],
    ['a cookie that is not the first', 'Cookie: a=b; PHPSESSID=0123456789abcdef', '0123456789abcdef'],
    ['headers as a list', '{"set-cookie":["s=hunter2; Path=/"]}', 'hunter2'],
    ['JSON in JSON', JSON.stringify({ msg: JSON.stringify({ password: 'hunter2' }) }), 'hunter2'],
    ['an object as JavaScript shows it', "{ password: 'hunter2' }", 'hunter2'],
    ['quotation marks', 'password="hunter2 or 3"', 'hunter2 or 3'],
    ['names in camel case', '{"dbPassword":"hunter2","secretAccessKey":"hunter3"}', 'hunter'],
    ['a number', '{"password":123456}', '123456'],
    ['a comma in a password', 'password=hun,ter2', 'ter2'],
    ['a quotation mark in a password', JSON.stringify({ password: 'hun"ter2' }), 'ter2'],
    ['another scheme of a header', 'Authorization: token hunter2', 'hunter2'],
    ['an option', 'mysql --password hunter2 --host db', 'hunter2'],
    ['a short name', '{"pass":"hunter2"}', 'hunter2'],
    ['an array of PHP', "'db_password' => 'hunter2'", 'hunter2'],
  ])('%s', (_what, text, secret) => {
    expect(redactor([])(text)).not.toContain(secret);
  });
});

it('removes a whole key although another key is known', () => {
  const pem = (body: string) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`;
  const known = pem('MIIEvQ');
  const redact = redactor([known, ...known.split('\n')]);
  expect(redact(`${pem('MIIEabc')} stays`)).toBe('[removed] stays');
});

it('removes known secrets in each form of addresses', () => {
  const redact = redactor(['pa/ss wörd+1']);
  for (const form of ['pa/ss wörd+1', 'pa%2Fss%20w%C3%B6rd%2B1', 'pa%2fss+w%c3%b6rd%2b1']) {
    expect(redact(`it said ${form}!`)).toBe('it said [removed]!');
  }
});

it('leaves ids, checksums, versions, paths and sentences', () => {
  const kept = [
    '{"id":"7f0c7f6e-5ba0-4d5f-8f5c-0d7d9c0b6a11","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","at":"2026-05-01T00:00:00.000Z","path":"/var/lib/homeport/host/installs/A1/htdocs","key_count":3}',
    'at createHostExpositionOfTheRegistry (file:///opt/homeport/node_modules/@fastify/static/index.js:3:1)',
    'could not read the sealing key: no such file. Set HOMEPORT_SEALING_KEY_FILE=/etc/homeport/sealing.key',
    '{"token_id":"a1","password":null,"secretCount":2}',
    'GET https://registry.example:8443/@types/node by me@example.com',
  ].join('\n');
  expect(redactor([])(kept)).toBe(kept);
});

it('takes no longer than the length of a line', () => {
  // Each took minutes when the time grew with the square of the length.
  for (const line of ['a', 'a.', 'a-', '"a', "a='", 'a={', 'a://', 'token=\\', ' --a']) {
    const text = line.repeat(Math.ceil(500_000 / line.length));
    expect(redactor([])(text).length).toBeGreaterThan(0);
  }
}, 60_000);

it('shows no part of a password with a slash, and takes parameters of databases for no secrets', () => {
  const HOMEPORT_DATABASE_URL = 'postgres://u:1234/ss@host/db?sslmode=require&password=other-pass';
  expect(shownSettings({ HOMEPORT_DATABASE_URL })).toBe('HOMEPORT_DATABASE_URL=[removed]\n');
  const secrets = secretsOf({ HOMEPORT_DATABASE_URL }, []);
  expect(secrets).toEqual(expect.arrayContaining(['1234/ss', 'other-pass']));
  expect(secrets).not.toContain('require');
});

it('knows the values of headers', () => {
  const secrets = secretsOf(
    { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=web,authorization=Bearer%20short-token' },
    [],
  );
  expect(redactor(secrets)('refused short-token of web')).toBe('refused [removed] of web');
});
