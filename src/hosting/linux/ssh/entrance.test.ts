import { describe, expect, test } from 'vitest';
import { linuxLayout } from '../machine/layout.ts';
import { entranceOf, parseSessionQuestion, renderEntrance, WAYS } from './entrance.ts';

const layout = linuxLayout('/var/lib/homeport-host', '/run/homeport-host');
const install = {
  id: '0b3c1f8e-5a0d-4c0e-9f39-0d5f4d2c7a11',
  name: 'shop',
  uid: 200_007,
  gid: 200_007,
  php: {
    version: '8.2',
    root: '/',
    fpm: '/usr/sbin/php-fpm8.2',
    cli: '/usr/bin/php8.2',
    modules: [],
    fault: null,
  },
  wordpressVersion: '6.8.7',
};

describe('what leads into a sandbox', () => {
  test.each(WAYS)('by the way "%s" ends where a command can follow', (way) => {
    const command = entranceOf(layout, install, way);
    expect(command[0]).toBe('/bin/sh');
    expect(command).toContain('/usr/bin/bwrap');
    expect(command.at(-1)).toBe('/usr/bin/env');
    // It is the install's user already, who could not switch.
    expect(command).not.toContain('/usr/bin/setpriv');
    // Clients such as rsync name paths relative to the home. A shell begins where its user can write.
    expect(command.join(' ')).toContain(`--chdir ${layout.homeOf(install.id)} `);
    expect(command.at(-2)).toBe(way === 'terminal' ? layout.privateOf(install.id) : '--');
  });

  test('gives sockets for the Internet to shells alone', () => {
    const apart = WAYS.filter((way) => entranceOf(layout, install, way).includes('--unshare-net'));
    expect(apart).toEqual(['sftp']);
  });

  test('keeps a terminal in its session, if there is a terminal', () => {
    const apart = WAYS.filter((way) => entranceOf(layout, install, way).includes('--new-session'));
    expect(apart).toEqual(['sftp', 'plain']);
  });

  test('keeps the history of a shell where the install may write', () => {
    expect(entranceOf(layout, install, 'terminal').join(' ')).toContain(
      `HOME ${layout.dotfilesOf(install.id)}`,
    );
  });

  test('is said with a NUL behind each argument, and an end', () => {
    expect(renderEntrance(['/bin/a', '', 'b\nc'])).toBe('/bin/a\0\0b\nc\0\n');
    expect(() => renderEntrance(['/bin/a', 'b\0c'])).toThrow(/NUL/);
  });
});

describe('the question of a session', () => {
  test('is its process, its way, and where the user connects from', () => {
    expect(parseSessionQuestion('4711 terminal')).toEqual({ pid: 4711, way: 'terminal', address: null });
    const from = (address: string) => parseSessionQuestion(`4711 sftp ${address}`)?.address;
    expect(['192.0.2.1', '2001:db8::1', '1.2.3'].map(from)).toEqual(['192.0.2.1', '2001:db8::1', null]);
  });

  test.each(['', '4711', 'x sftp', '4711 root', '4711 sftp more', '-1 sftp'])('is not "%s"', (line) => {
    expect(parseSessionQuestion(line)).toBeNull();
  });
});
