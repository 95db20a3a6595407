import { describe, expect, it } from 'vitest';
import { readConfig } from '../../config.ts';
import { addressesOf, configuredAddresses, connectionOf } from './connection.ts';

const install = { name: 'harbour', primaryDomain: 'harbour.example' };
const description = {
  id: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  capacity: 1,
  phpVersions: [],
  wordpressVersions: [],
  reservedNames: [],
  ports: { http: 80, https: 443, ssh: 2222 },
};

/** As `host:port http_url https_url`. */
function shown(environment: Record<string, string>, host?: { address: string }): string | null {
  const config = readConfig(environment);
  const addresses =
    host === undefined ? configuredAddresses(config) : addressesOf({ ...host, description }, config);
  if (addresses === null) return null;
  const connection = connectionOf(install, addresses, { publicUrl: config.publicUrl, shell: true });
  expect(connection).toMatchObject({ username: 'harbour', shell: true });
  return `${connection.host}:${connection.port} ${connection.http_url} ${connection.https_url}`;
}

describe('how an install is reached', () => {
  it('on a trial on one machine, by its loopback and the ports that were set', () => {
    expect(shown({})).toBe('localhost:2222 http://harbour.example:8080/ https://harbour.example:8444/');
  });

  it.each([
    ['0.0.0.0', 'portal.example.com'],
    ['[::]', 'portal.example.com'],
    ['127.0.0.1', 'portal.example.com'],
    ['203.0.113.7', '203.0.113.7'],
    ['[2001:db8::7]', '2001:db8::7'],
  ])('where %s is listened on, by %s', (address, host) => {
    const environment = {
      HOMEPORT_PUBLIC_URL: 'https://portal.example.com/base',
      HOMEPORT_EDGE_HTTP: `${address}:80`,
      HOMEPORT_EDGE_HTTPS: `${address}:443`,
      HOMEPORT_SSH_LISTEN: `${address}:2200`,
    };
    expect(shown(environment)).toBe(`${host}:2200 http://harbour.example/ https://harbour.example/`);
  });

  it('behind a proxy, whose ports are the standard ones', () => {
    expect(shown({ HOMEPORT_PUBLIC_URL: 'https://portal.example.com' })).toBe(
      'portal.example.com:2222 http://harbour.example/ https://harbour.example/',
    );
  });

  it('is not known while the system has yet to choose a port', () => {
    expect(shown({ HOMEPORT_SSH_LISTEN: '127.0.0.1:0' })).toBeNull();
  });

  it('on a Linux host, by the ports that it tells and the name of its machine', () => {
    const environment = {
      HOMEPORT_PUBLIC_URL: 'https://portal.example.com',
      HOMEPORT_SSH_LISTEN: '0.0.0.0:22',
    };
    const websites = 'http://harbour.example/ https://harbour.example/';
    expect(shown(environment, { address: 'unix:/run/homeport-host/host.sock' })).toBe(
      `portal.example.com:2222 ${websites}`,
    );
    expect(shown(environment, { address: 'https://web2.example.com:8470' })).toBe(
      `web2.example.com:2222 ${websites}`,
    );
    expect(shown(environment, { address: 'https://[2001:db8::2]:8470' })).toBe(
      `2001:db8::2:2222 ${websites}`,
    );
    expect(
      addressesOf({ address: 'https://web2.example.com:8470', description: null }, readConfig({})),
    ).toBeNull();
  });
});
