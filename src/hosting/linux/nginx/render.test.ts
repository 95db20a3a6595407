import { expect, test } from 'vitest';
import { linuxLayout } from '../machine/layout.ts';
import { EDGE_SIZES, type EdgeOptions, edgeOptions } from './edge-options.ts';
import { literally, quoted, quotedPattern } from './quote.ts';
import { renderClients } from './render-clients.ts';
import { renderEdge } from './render-edge.ts';
import { listenValue } from './render-main.ts';

const options: EdgeOptions = {
  ...edgeOptions(
    {
      layout: linuxLayout('/var/lib/h', '/run/h'),
      edgeHttp: { host: '0.0.0.0', port: 80 },
      edgeHttps: { host: '::', port: 8444 },
      trustedProxies: [],
      notices: '/var/lib/h/nginx/notices',
      ownCertificate: '/certs/own.pem',
      resolvers: [
        { host: '9.9.9.9', port: 53 },
        { host: '2620:fe::fe', port: 5353 },
      ],
      storage: { socket: '/run/h/nginx/storage.sock', roots: '/roots.pem' },
      usageLog: '/run/h/nginx/usage/requests.log',
      pidFile: '/run/h/nginx.pid',
      temporary: '/var/lib/h/nginx/temporary',
      instance: 'homeport',
      user: 'www-data',
      openFiles: 20_000,
      uploadMb: { standard: 64, most: 1024 },
    },
    { lua: { folder: '/lua', modules: ['rows'] }, sizes: EDGE_SIZES, brotli: true },
  ),
  ownFingerprint: 'AA:BB',
  forwarding: null,
};

test('the configuration shows its generation, which changes with every option', () => {
  const { generation, text } = renderEdge(options);
  expect(text).toContain(`homeport generation ${generation}`);
  expect(renderEdge(options)).toEqual({ generation, text });
  expect(renderEdge({ ...options, ownFingerprint: 'CC' }).generation).not.toBe(generation);
});

test('Brotli needs its module', () => {
  expect(renderEdge(options).text).toContain('brotli');
  expect(renderEdge({ ...options, brotli: false }).text).not.toMatch(/^\s*(load_module .*)?brotli/m);
});

test('without roots nothing is fetched by HTTPS', () => {
  const { text } = renderEdge({ ...options, storage: { socket: '/s', roots: null } });
  expect(text).not.toContain('proxy_pass $http_x_homeport_bucket');
});

test('addresses', () => {
  expect(listenValue({ host: '127.0.0.1', port: 80 }, '')).toBe('127.0.0.1:80');
  expect(listenValue({ host: '::1', port: 80 }, 'ssl')).toBe('[::1]:80 ssl');
  expect(listenValue({ host: '::', port: 80 }, '')).toBe('[::]:80 ipv6only=off');
});

test('texts for nginx', () => {
  expect(quoted('a "b" \\c; {}')).toBe('"a \\"b\\" \\\\c; {}"');
  expect(() => quoted('$uri')).toThrow('must have no "$"');
  expect(() => quoted('a\nb')).toThrow('control characters');
  expect(quotedPattern('a$')).toBe('"a$"');
  const awkward = '/a.b*(c)[d]{e}+f?g^h$i|j\\k#l-m';
  expect(new RegExp(`^${literally(awkward)}$`).test(awkward)).toBe(true);
});

test('visitors with IPv4 are counted apart if nginx listens on [::], which shows them as IPv6 addresses', () => {
  const [, pattern = ''] = /"~\(\?s\)(\S+)" \$ipv4_inside;/.exec(renderClients([])) ?? [];
  const inside = new RegExp(pattern.replace('\\z', '$'), 's');
  const mapped = `${'\0'.repeat(10)}\xff\xff`;
  expect(inside.exec(`${mapped}\x7f\0\0\x01`)?.groups?.ipv4_inside).toBe('\x7f\0\0\x01');
  expect(inside.exec(`${'\0'.repeat(15)}\x01`)).toBeNull();
});
