import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from '../daemons/user-systemd.fixture.ts';
import { NOT_WHILE_UNPACKING } from './service-unit.ts';

describe.runIf(hasUserSystemd)('a connection while dpkg unpacks the package', () => {
  let systemd: UserSystemd;

  beforeAll(async () => {
    systemd = await startUserSystemd();
  });
  afterAll(() => systemd.end());

  const dpkgSays = (status: string) =>
    writeFile(
      join(dirname(systemd.systemctl), 'status'),
      `Package: homeport\nStatus: install ${status}\nMaintainer: a\nArchitecture: amd64\nVersion: 1\nDescription: a\n`,
    );

  async function property(unit: string, name: string): Promise<string> {
    const { stdout } = await runCommand(systemd.systemctl, ['show', `--property=${name}`, '--value', unit]);
    return stdout.trim();
  }

  test('waits in the socket, and the service starts when dpkg has ended', async () => {
    const home = dirname(systemd.systemctl);
    const units = {
      'packaged.socket': ['[Socket]', `ListenStream=${home}/packaged.sock`],
      'packaged.service': [
        '[Unit]',
        'StartLimitIntervalSec=0',
        '[Service]',
        'Type=notify',
        'NotifyAccess=all',
        `Environment=DPKG_ADMINDIR=${home}`,
        NOT_WHILE_UNPACKING,
        `ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep 600'`,
        'Restart=always',
        'RestartSec=100ms',
      ],
    };
    for (const [name, lines] of Object.entries(units))
      await writeFile(join(systemd.unitFolder, name), `${lines.join('\n')}\n`);
    await dpkgSays('reinstreq half-installed');
    await runCommand(systemd.systemctl, ['daemon-reload']);
    await runCommand(systemd.systemctl, ['start', 'packaged.socket']);
    const visitor = connect(join(home, 'packaged.sock'));
    await once(visitor, 'connect');

    // A socket that starts its service too often is closed.
    await expect
      .poll(async () => Number(await property('packaged.service', 'NRestarts')))
      .toBeGreaterThan(30);
    expect(await property('packaged.service', 'MainPID')).toBe('0');
    expect(await property('packaged.socket', 'ActiveState')).toBe('active');

    await dpkgSays('ok unpacked');
    await expect.poll(() => property('packaged.service', 'ActiveState')).toBe('active');
    expect(visitor.closed).toBe(false);
    visitor.destroy();
    await runCommand(systemd.systemctl, ['stop', 'packaged.socket', 'packaged.service']);
  });
});
