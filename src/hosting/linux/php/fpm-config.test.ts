import { describe, expect, it } from 'vitest';
import type { PhpSettings } from '../../../lib/php-limits.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { linuxLayout } from '../machine/layout.ts';
import { fpmSpec } from './fpm.ts';
import { fpmConfig, standardPhp, startSettings } from './fpm-config.ts';

const layout = linuxLayout('/srv/host', '/run/host');
const id = '11111111-1111-4111-8111-111111111111';
const install: SandboxedInstall = {
  id,
  name: 'shop',
  uid: 200001,
  gid: 200001,
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
const limits = { memoryMb: 512, cpuPercent: 100, processes: 64 };

describe('PHP-FPM’s configuration', () => {
  it('listens on the install’s socket and logs to its private folder', () => {
    const lines = fpmConfig(layout, install, standardPhp(limits)).split('\n');
    expect(lines).toContain(`listen = /run/host/php/${id}.sock`);
    expect(lines).toContain(`php_admin_value[error_log] = "/srv/host/installs/${id}/private/php-error.log"`);
  });

  it.each([
    [64, 64, 2, '64M', 16],
    [512, 64, 10, '256M', 96],
    [512, 8, 4, '256M', 96],
    [8192, 500, 16, '256M', 96],
  ])('with %i MB and %i processes has %i workers, %s for a page and %i MB of opcache', (...row) => {
    const [memoryMb, processes, workers, page, opcache] = row;
    const text = fpmConfig(layout, install, standardPhp({ memoryMb, processes, cpuPercent: 100 }));
    expect(text).toContain(`pm.max_children = ${workers}\n`);
    expect(text).toContain(`memory_limit] = ${page}\n`);
    expect(startSettings({ memoryMb, processes, cpuPercent: 100 })).toContain(
      `opcache.memory_consumption=${opcache}`,
    );
  });

  it('quotes the operator’s folder', () => {
    const odd = { ...install, home: '/srv/a;b "c"' };
    expect(fpmConfig(layout, odd, standardPhp(limits))).toContain('"/srv/a;b \\"c\\"/private/php-error.log"');
  });
});

it('PHP uses compiled code only if there is some', () => {
  const folder = 'opcache.file_cache=/run/homeport/compiled';
  expect(startSettings(limits)).not.toContain(folder);
  expect(startSettings(limits, { compiledCore: '/srv/host/compiled/x/0123' })).toContain(folder);
});

describe('the PHP-FPM daemon', () => {
  const spec = fpmSpec({ layout, install, limits });

  it('is named after the install, has its limits and stops gracefully', () => {
    expect(spec).toMatchObject({ name: `php-${id}`, limits, stopSignal: 'SIGQUIT' });
    // Root creates the socket; everything after that runs as the install's user.
    expect(spec.command[0]).toBe('/usr/bin/perl');
    expect(spec.command).toContain('/usr/bin/setpriv');
    // A line end would be invalid in a systemd unit.
    expect(spec.command.filter((word) => word.includes('\n'))).toEqual([]);
  });

  it('has another program below the same command if its configuration, PHP version or core changes', () => {
    const of = (change: Partial<SandboxedInstall>, php?: PhpSettings) =>
      fpmSpec({ layout, install: { ...install, ...change }, limits, php });
    const others = [
      of({ wordpressVersion: '6.8.8' }),
      of({ php: { ...install.php, version: '8.3' } }),
      of({ home: '/srv/elsewhere' }),
      of({ compiledCore: '/srv/host/compiled/x/0123' }),
      of({}, { ...standardPhp(limits), seconds: 77 }),
    ];
    expect(of({}).program).toBe(spec.program);
    expect(new Set([spec, ...others].map(({ program }) => program)).size).toBe(6);
    for (const { command } of others) expect(command).toEqual(spec.command);
  });
});
