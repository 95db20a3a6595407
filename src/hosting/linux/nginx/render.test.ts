import { expect, test } from 'vitest';
import type { InstallState } from '../../contract/host.ts';
import { linuxLayout } from '../machine/layout.ts';
import { literally, quoted, quotedPattern } from './quote.ts';
import { listenValue, type MainOptions, renderMain } from './render-main.ts';
import { renderOffloadMap } from './render-offload.ts';
import { renderVhost } from './render-vhost.ts';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const ID = '0a000000-0000-4000-8000-000000000000';
const certificate = { chain: 'chain', key: 'key', notAfter: '2027-01-01T00:00:00.000Z' };

const main: MainOptions = {
  layout: linuxLayout('/var/lib/h', '/run/h'),
  edgeHttp: { host: '0.0.0.0', port: 80 },
  edgeHttps: { host: '::', port: 8444 },
  trustedProxies: [],
  listen: { http: '0.0.0.0:80', https: '[::]:8444 ssl http2' },
  notices: '/var/lib/h/nginx/notices',
  certificateFiles: (id) => ({ chain: `/certs/${id}.pem`, key: `/certs/${id}.key` }),
  ownCertificate: '/certs/own.pem',
  s3: { endpoint: null, pathStyle: false },
  resolvers: [
    { host: '9.9.9.9', port: 53 },
    { host: '2620:fe::fe', port: 5353 },
  ],
  storage: { socket: '/run/h/nginx/storage.sock', roots: '/roots.pem' },
  statusSocket: '/run/h/nginx/status.sock',
  usageLog: '/run/h/nginx/usage/requests.log',
  pidFile: '/run/h/nginx.pid',
  temporary: '/var/lib/h/nginx/temporary',
  ownFingerprint: 'AA:BB',
  instance: 'homeport',
  user: 'www-data',
  openFiles: 20_000,
};

function state(changes: Partial<InstallState> = {}): InstallState {
  return {
    id: ID,
    name: 'shop',
    primaryHostname: 'shop.test',
    hostnames: [
      { name: 'shop.test', redirectTo: null, forceHttps: false, certificate: null },
      { name: 'www.shop.test', redirectTo: null, forceHttps: false, certificate: null },
      { name: 'secure.test', redirectTo: null, forceHttps: true, certificate },
      { name: 'old.test', redirectTo: 'shop.test', forceHttps: false, certificate: null },
    ],
    offload: null,
    phpVersion: '8.2',
    wordpressVersion: '6.8.7',
    ...changes,
  };
}

const vhost = (changes?: Partial<InstallState>) => renderVhost(state(changes), main, NOW);

test('names of one behaviour and certificate share a server', () => {
  const { text } = vhost();
  expect([...text.matchAll(/^server_name (.*);$/gm)].map(([, names]) => names)).toEqual([
    'shop.test www.shop.test',
    'secure.test',
    'secure.test',
    'old.test',
    'old.test',
  ]);
  expect(text).toContain('return 301 https://$host$https_port_suffix$request_uri;');
  expect(text).toContain('return 301 http://shop.test$port_suffix$request_uri;');
  // The default server's is shown for the others.
  expect(text.match(/ssl_certificate /g)).toHaveLength(1);
  expect(text.match(/ssl_certificate "\/certs\/[0-9a-f]{32}\.pem";/g)).toHaveLength(1);
});

test('each server contains the revision, which changes with every state', () => {
  const { text, revision } = vhost();
  expect(revision).toMatch(/^[0-9a-f]{64}$/);
  const marker = `location = /.well-known/homeport/${ID}/${revision} {`;
  expect(text.split(marker)).toHaveLength(6);
  expect(vhost().revision).toBe(revision);
  const others = [
    vhost({ name: 'shop2' }),
    vhost({ hostnames: [] }),
    vhost({ offload: { bucket: 'media', region: 'eu-west-1', paths: [] } }),
    vhost({
      hostnames: state().hostnames.map((one) => ({ ...one, certificate: { ...certificate, chain: 'new' } })),
    }),
  ];
  expect(new Set([revision, ...others.map((one) => one.revision)]).size).toBe(5);
});

test('the configuration never contains a private key', () => {
  const key = '-----BEGIN PRIVATE KEY-----';
  const text = vhost({
    hostnames: [{ name: 'a.test', redirectTo: null, forceHttps: true, certificate: { ...certificate, key } }],
  }).text;
  expect(text).not.toContain('PRIVATE');
});

test('what a website owns is named by its id alone', () => {
  const { text } = vhost();
  expect(text).toContain(`fastcgi_pass "unix:/run/h/php/${ID}.sock";`);
  expect(text).toContain(`fastcgi_cache_path "/var/lib/h/cache/${ID}" levels=1:2 keys_zone=page_${ID}:`);
  expect(text).toContain(`root "/var/lib/h/installs/${ID}/htdocs";`);
  expect(text).toContain(`disable_symlinks if_not_owner from="/var/lib/h/installs/${ID}";`);
});

test('no file is served, and no page of the cache read, by what nginx remembers of paths', () => {
  const locations = vhost().text.split(/^(?=location )/m);
  const remembering = locations.filter((text) => text.includes('open_file_cache '));
  expect(remembering.length).toBeGreaterThan(0);
  for (const text of remembering) {
    expect(text).toMatch(/if \(-[ef] \S+\) \{\n\s*return 419;\n\s*\}\n\s*rewrite \^ \/index\.php last;/);
    expect(text).not.toMatch(/try_files|fastcgi_pass/);
  }
});

test('the main file includes the websites, and its generation is the hash of all of it', () => {
  const none = renderMain(main, []);
  const one = renderMain(main, ['/var/lib/h/nginx/vhosts/a.conf']);
  expect(one.text).toContain('include "/var/lib/h/nginx/vhosts/a.conf";');
  expect(one.generation).not.toBe(none.generation);
  expect(renderMain({ ...main, ownFingerprint: 'CC' }, []).generation).not.toBe(none.generation);
  expect(one.text).toContain(`location = /.well-known/homeport/generation/${one.generation} {`);
  expect(one.text).toContain('resolver 9.9.9.9:53 [2620:fe::fe]:5353 valid=30s;');
  expect(one.text).toContain('proxy_ssl_verify on;');
  expect(one.text).toContain('listen [::]:8444 ipv6only=off ssl http2 default_server backlog=4096;');
  expect(one.text).toMatch(/map \$authority \$https_port_suffix \{\n {4}default "";\n {4}"[^"]+" ":8444";/);
});

test('without roots nothing is fetched by HTTPS', () => {
  const { text } = renderMain({ ...main, storage: { socket: '/s', roots: null } }, []);
  expect(text).not.toContain('proxy_pass $http_x_homeport_bucket');
});

test('addresses', () => {
  expect(listenValue({ host: '127.0.0.1', port: 80 }, '')).toBe('127.0.0.1:80');
  expect(listenValue({ host: '::1', port: 80 }, 'ssl')).toBe('[::1]:80 ssl');
  expect(listenValue({ host: '::', port: 80 }, '')).toBe('[::]:80 ipv6only=off');
});

test('rules of offload: longest first, each after what it excludes, patterns taken literally', () => {
  const text = renderOffloadMap(ID, {
    bucket: 'media',
    region: 'eu-west-1',
    paths: [
      { path: '/up.loads/', excludedPaths: ['/up.loads/a', '/up.loads/b/'], redirectType: 'break' },
      { path: '/up.loads/big/', excludedPaths: [], redirectType: 'permanent' },
      { path: '/', excludedPaths: ['/wp-admin'], redirectType: 'permanent' },
    ],
  });
  expect(text).toContain(`map $request_method$uri $offload_${ID.replaceAll('-', '')} {`);
  const rules = text.split('\n').slice(6, -1);
  expect(rules.map((line) => line.trim())).toEqual([
    '"~^[A-Z]+/(?:up\\\\.loads\\\\/big)(?:/|$)" "permanent";',
    '"~^[A-Z]+/(?:up\\\\.loads\\\\/a|up\\\\.loads\\\\/b)(?:/|$)" "";',
    '"~^[A-Z]+/(?:up\\\\.loads)(?:/|$)" "break";',
    '"~^[A-Z]+/(?:wp\\\\-admin)(?:/|$)" "";',
    '"~^[A-Z]+/" "permanent";',
  ]);
  const odd = { path: '/a\nb', excludedPaths: [], redirectType: 'break' as const };
  expect(() => renderOffloadMap(ID, { bucket: 'media', region: 'x', paths: [odd] })).toThrow(
    'control characters',
  );
});

test('excluded paths share as few patterns as nginx can read', () => {
  const patterns = (excludedPaths: string[]) => {
    const rule = { path: '/a', excludedPaths, redirectType: 'break' as const };
    const text = renderOffloadMap(ID, { bucket: 'media', region: 'x', paths: [rule] });
    const lines = text.split('\n').slice(6, -2);
    return lines.map((line) => line.trim().slice(0, -' "";'.length));
  };
  const named = (length: number, count: number) =>
    Array.from({ length: count }, (_, index) => `/a/${index}${'-'.repeat(length)}`);
  expect(patterns(named(1, 100))).toHaveLength(1);
  const long = patterns(named(500, 100));
  expect(long).toHaveLength(50);
  for (const pattern of long) expect(Buffer.byteLength(pattern)).toBeLessThan(4096);
  expect(patterns(['/a/ö', '/', '/a/x'])).toEqual(['"~^[A-Z]+/"']);
});

test('texts for nginx', () => {
  expect(quoted('a "b" \\c; {}')).toBe('"a \\"b\\" \\\\c; {}"');
  expect(() => quoted('$uri')).toThrow('must have no "$"');
  expect(() => quoted('a\nb')).toThrow('control characters');
  expect(quotedPattern('a$')).toBe('"a$"');
  const awkward = '/a.b*(c)[d]{e}+f?g^h$i|j\\k#l-m';
  expect(new RegExp(`^${literally(awkward)}$`).test(awkward)).toBe(true);
});
