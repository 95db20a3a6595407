import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from '../daemons/user-systemd.fixture.ts';
import { noteServices, type ServicesPlace, stopServices } from './services.ts';

describe.runIf(hasUserSystemd)('services of packages', () => {
  let systemd: UserSystemd;
  let place: ServicesPlace;

  beforeEach(async () => {
    systemd = await startUserSystemd();
    const home = dirname(systemd.systemctl);
    const operatorUnits = join(home, '.config/systemd/user');
    await mkdir(operatorUnits, { recursive: true });
    const systemctl = join(home, 'systemctl-at-home');
    await writeFile(systemctl, `#!/bin/sh\nHOME=${home} exec ${systemd.systemctl} "$@"\n`);
    await chmod(systemctl, 0o755);
    const before = join(home, 'etc/homeport/services-before');
    place = { systemctl, packageUnits: systemd.unitFolder, operatorUnits, before };
  });
  afterEach(() => systemd.end());

  const systemctl = async (...args: string[]) => (await runCommand(place.systemctl, args)).stdout;

  /** As Debian's packages bring a service: enabled, and running unless something forbids it. */
  async function install(unit: string, folder = place.packageUnits): Promise<void> {
    const text =
      '[Service]\nExecStart=/usr/bin/sleep 600\n[Install]\nWantedBy=default.target\nAlias=alias-of-';
    await writeFile(join(folder, unit), `${text}${unit}\n`);
    await systemctl('daemon-reload');
    await systemctl('enable', '--quiet', '--now', unit);
  }

  async function states(...units: string[]): Promise<string[]> {
    const asked = units.map((unit) => systemctl('show', '--property=LoadState,ActiveState', '--value', unit));
    return (await Promise.all(asked)).map((answer) => answer.trim().replace('\n', ' '));
  }

  test('that came with a set-up are stopped for good, even if it was broken off before', async () => {
    await noteServices(place);
    await install('nginx.service');
    await install('php8.2-fpm.service');
    await install('other.service');
    // The set-up was broken off here: the second one finds nothing to install.
    await noteServices(place);
    expect(await stopServices(place)).toEqual({ masked: ['nginx.service', 'php8.2-fpm.service'], left: [] });
    expect(await states('nginx.service', 'php8.2-fpm.service', 'other.service')).toEqual([
      'masked inactive',
      'masked inactive',
      'loaded active',
    ]);
    await expect(systemctl('start', 'nginx.service')).rejects.toThrow(/masked/);
    await expect(systemctl('start', 'alias-of-nginx.service')).rejects.toThrow();
    expect(await stopServices(place)).toEqual({ masked: [], left: [] });
  });

  test('that were there before are left and named, for as long as they run or will', async () => {
    await install('nginx.service');
    await install('mariadb.service');
    await systemctl('disable', '--quiet', '--now', 'mariadb.service');
    await noteServices(place);
    expect(await readFile(place.before, 'utf8')).toBe('mariadb.service\nnginx.service\n');
    await install('redis-server.service');
    expect(await stopServices(place)).toEqual({ masked: ['redis-server.service'], left: ['nginx.service'] });
    expect(await states('nginx.service', 'redis-server.service')).toEqual([
      'loaded active',
      'masked inactive',
    ]);
    await systemctl('stop', 'nginx.service');
    expect((await stopServices(place)).left).toEqual(['nginx.service']);
    await systemctl('disable', '--quiet', 'nginx.service');
    expect(await stopServices(place)).toEqual({ masked: [], left: [] });
  });

  test('that the operator has written since are left and named', async () => {
    await noteServices(place);
    await install('nginx.service', place.operatorUnits);
    expect(await stopServices(place)).toEqual({ masked: [], left: ['nginx.service'] });
    expect(await states('nginx.service')).toEqual(['loaded active']);
    await rm(join(place.operatorUnits, 'nginx.service'));
  });
});
