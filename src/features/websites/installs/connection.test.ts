import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../config/config.ts';
import { addressesOf, configuredAddresses, connectionOf } from './connection.ts';
import { shownHostKey } from './host-keys.ts';

const website = { name: 'harbour.localhost', isTrusted: false };
const install = { name: 'harbour', primaryDomain: 'harbour.example', website };
const description = {
  id: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  capacity: 1,
  phpVersions: [],
  wordpressVersions: [],
  reservedNames: [],
  ports: { http: 80, https: 443, ssh: 2222 },
};

/** Formats a connection as `host:port http_url https_url`. */
function shown(
  environment: Record<string, string>,
  host?: { address: string; publicName?: string },
): string | null {
  const config = readConfig(environment);
  const addresses =
    host === undefined ? configuredAddresses(config) : addressesOf({ ...host, description }, config);
  if (addresses === null) return null;
  const connection = connectionOf(install, addresses, {
    publicUrl: config.publicUrl,
    publicName: host?.publicName ?? null,
    shell: true,
    hostKeys: [],
  });
  expect(connection).toMatchObject({ username: 'harbour', shell: true, host_keys: [] });
  return `${connection.host}:${connection.port} ${connection.http_url} ${connection.https_url}`;
}

describe('the connection of an install', () => {
  it('uses the loopback address and the configured ports on a single machine', () => {
    expect(shown({})).toBe('localhost:2222 http://harbour.example:8080/ https://harbour.example:8444/');
  });

  it.each([
    ['0.0.0.0', 'portal.example.com'],
    ['[::]', 'portal.example.com'],
    ['127.0.0.1', 'portal.example.com'],
    ['203.0.113.7', '203.0.113.7'],
    ['[2001:db8::7]', '2001:db8::7'],
  ])('for a listener on %s has the host %s', (address, host) => {
    const environment = {
      HOMEPORT_PUBLIC_URL: 'https://portal.example.com/base',
      HOMEPORT_EDGE_HTTP: `${address}:80`,
      HOMEPORT_EDGE_HTTPS: `${address}:443`,
      HOMEPORT_SSH_LISTEN: `${address}:2200`,
    };
    expect(shown(environment)).toBe(`${host}:2200 http://harbour.example/ https://harbour.example/`);
  });

  it('opens by HTTP while browsers would warn about the certificate, and by HTTPS behind a proxy', () => {
    const opened = (isTrusted: boolean, publicUrl: string) => {
      const config = readConfig({ HOMEPORT_PUBLIC_URL: publicUrl });
      const reached = { publicUrl, publicName: null, shell: false, hostKeys: [] };
      const addresses = configuredAddresses(config) ?? expect.unreachable();
      return connectionOf({ ...install, website: { ...website, isTrusted } }, addresses, reached).website_url;
    };
    expect(opened(false, 'https://localhost:8443')).toBe('http://harbour.localhost:8080/');
    expect(opened(true, 'https://localhost:8443')).toBe('https://harbour.localhost:8444/');
    expect(opened(false, 'https://portal.example.com')).toBe('https://harbour.localhost/');
  });

  it('uses the standard ports behind a proxy', () => {
    expect(shown({ HOMEPORT_PUBLIC_URL: 'https://portal.example.com' })).toBe(
      'portal.example.com:2222 http://harbour.example/ https://harbour.example/',
    );
  });

  it('is unknown until the system has chosen a port', () => {
    expect(shown({ HOMEPORT_SSH_LISTEN: '127.0.0.1:0' })).toBeNull();
  });

  it('uses the ports and the host name of a Linux host', () => {
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

  it('uses the public name of its host for SSH, and the listeners for the websites', () => {
    const environment = { HOMEPORT_PUBLIC_URL: 'https://portal.example.com' };
    const websites = 'http://harbour.example/ https://harbour.example/';
    for (const address of ['https://10.0.0.2:8470', 'unix:/run/homeport-host/host.sock']) {
      expect(shown(environment, { address, publicName: 'web2.example.com' })).toBe(
        `web2.example.com:2222 ${websites}`,
      );
    }
  });
});

/** The key of RFC 8709 section 4, with the fingerprint that ssh-keygen shows. */
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

describe('an SSH host key', () => {
  it('has the type and the fingerprint that OpenSSH shows', () => {
    expect(shownHostKey(KEY, { host: 'web2.example.com', port: 22 })).toEqual({
      type: 'ED25519',
      fingerprint: 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
      known_hosts: `web2.example.com ${KEY}`,
    });
  });

  it.each([
    ['ssh-rsa', 'RSA'],
    ['ecdsa-sha2-nistp521', 'ECDSA'],
  ])('with the algorithm %s is an %s key', (algorithm, type) => {
    expect(shownHostKey(`${algorithm} AAAA`, { host: 'a.example', port: 22 }).type).toBe(type);
  });

  it.each([
    ['web2.example.com', 2222, '[web2.example.com]:2222'],
    ['2001:db8::2', 22, '2001:db8::2'],
    ['2001:db8::2', 2222, '[2001:db8::2]:2222'],
  ])('for %s and port %i is %s in known_hosts', (host, port, place) => {
    expect(shownHostKey(KEY, { host, port }).known_hosts).toBe(`${place} ${KEY}`);
  });
});
