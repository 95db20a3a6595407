import { describe, expect, test } from 'vitest';
import { linuxLayout } from '../layout.ts';
import { renderEntrances } from './entrances.ts';

const layout = linuxLayout('/var/lib/homeport-host', '/run/homeport-host');
const install = {
  id: '0b3c1f8e-5a0d-4c0e-9f39-0d5f4d2c7a11',
  name: 'shop',
  uid: 200_007,
  gid: 200_007,
  php: { version: '8.2', root: '/', fpm: '/usr/sbin/php-fpm8.2', cli: '/usr/bin/php8.2', modules: [] },
  wordpressVersion: '6.8.7',
};

/** As `session.pl` reads it. */
function parsed(text: string): Record<string, string[]> {
  const lines = text.trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split('\0')).map(([name, ...rest]) => [name, rest]));
}

describe('the entrances of an install', () => {
  const {
    install: id,
    sftp = [],
    plain = [],
    terminal = [],
    ...further
  } = parsed(renderEntrances(layout, install));

  test('are three, and say whose they are', () => {
    expect(id).toEqual([install.id]);
    expect(further).toEqual({});
  });

  test.each([sftp, plain, terminal])(
    'lead into the sandbox, and end where a command can follow',
    (...command) => {
      expect(command[0]).toBe('/usr/bin/bwrap');
      expect(command.slice(-2)).toEqual(['--', '/usr/bin/env']);
      expect(command).not.toContain('/usr/bin/setpriv');
      expect(command.join(' ')).toContain(`--chdir ${layout.homeOf(install.id)}`);
    },
  );

  test('keep the terminal in its session where there is one, and nowhere else', () => {
    expect([sftp, plain, terminal].map((command) => command.includes('--new-session'))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('keep the history of a shell where the install may write', () => {
    expect(terminal.join(' ')).toContain(`HISTFILE ${layout.privateOf(install.id)}/.bash_history`);
  });

  test('are refused where an argument would break a line', () => {
    expect(() => renderEntrances(layout, { ...install, home: '/srv/a\nb' })).toThrow(/line break/);
  });
});
