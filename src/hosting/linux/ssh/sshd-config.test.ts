import { describe, expect, test } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { linuxLayout } from '../machine/layout.ts';
import { renderSshdConfig } from './sshd-config.ts';

const layout = linuxLayout('/var/lib/homeport-host', '/run/homeport-host');
const lines = renderSshdConfig(layout, { host: '0.0.0.0', port: 22 }).split('\n');

describe('the configuration of sshd', () => {
  test.each([
    'ListenAddress 0.0.0.0:22',
    'AuthenticationMethods publickey',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin no',
    'AuthorizedKeysFile none',
    'AuthorizedKeysCommand /var/lib/homeport-host/lib/authorized-keys /run/homeport-host/keys.sock %u %t %k',
    'AuthorizedKeysCommandUser nobody',
    'ForceCommand exec /var/lib/homeport-host/lib/session /run/homeport-host/sessions.sock',
    'DisableForwarding yes',
    'MaxStartups 48:30:128',
    'PerSourceMaxStartups 10',
    'PerSourceNetBlockSize 32:64',
    'LoginGraceTime 15',
    'PermitUserEnvironment no',
    'PermitUserRC no',
  ])('says "%s"', (line) => {
    expect(lines).toContain(line);
  });

  test('sets nothing twice, for sshd takes the first', () => {
    const names = lines.filter(Boolean).map((line) => line.split(' ')[0]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    ['OpenSSH_9.2p1 Debian-2+deb12u7, OpenSSL 3.0.19', false],
    ['OpenSSH_9.7p1', false],
    ['OpenSSH_9.8p1', true],
    ['OpenSSH_10.0p2 Debian-7+deb13u4, OpenSSL 3.5.9', true],
    ['', false],
  ])('with %j, punishes no address for what others failed at', (version, isKnown) => {
    const text = renderSshdConfig(layout, { host: '::', port: 22 }, undefined, version);
    expect(text.includes('PerSourcePenalties no\n')).toBe(isKnown);
  });

  test('lets no client set a variable', () => {
    expect(lines.join('\n')).not.toContain('AcceptEnv');
  });

  test('has an IPv6 address in brackets', () => {
    expect(renderSshdConfig(layout, { host: '::', port: 2222 })).toContain('ListenAddress [::]:2222\n');
  });

  test.each(['/srv/with space', '/srv/%u', '/srv/a;b', '/srv/a"b', '/srv/a\nb'])(
    'is refused for the folder %j',
    (folder) => {
      expect(() => renderSshdConfig(linuxLayout(folder, '/run/h'), { host: '::', port: 1 })).toThrow(
        PermanentHostError,
      );
      expect(() => renderSshdConfig(linuxLayout('/srv/h', folder), { host: '::', port: 1 })).toThrow(
        /HOMEPORT_HOST_RUN_FOLDER/,
      );
    },
  );
});
