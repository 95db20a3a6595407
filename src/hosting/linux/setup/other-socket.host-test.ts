import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../../test/servers/free-port.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { createSystemctl } from '../daemons/systemctl.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from '../daemons/user-systemd.fixture.ts';
import { removeOtherSocket } from './other-socket.ts';
import { CONTROL_PLANE_SOCKET, controlPlaneSocket } from './service-unit.ts';

describe.runIf(hasUserSystemd)('the socket of settings that have none any more', () => {
  let systemd: UserSystemd;
  beforeAll(async () => {
    systemd = await startUserSystemd();
  });
  afterAll(() => systemd.end());

  const file = () => join(systemd.unitFolder, CONTROL_PLANE_SOCKET);
  const remove = () => removeOtherSocket(systemd.unitFolder, systemd.systemctl);

  async function listen(change: (unit: string) => string): Promise<void> {
    const service = '[Service]\nExecStart=/bin/sleep 600\n';
    await writeFile(join(systemd.unitFolder, 'homeport.service'), service);
    await writeFile(file(), change(controlPlaneSocket({ host: '127.0.0.1', port: await freePort() })));
    await runCommand(systemd.systemctl, ['daemon-reload']);
    await runCommand(systemd.systemctl, ['start', CONTROL_PLANE_SOCKET]);
  }

  const state = async () =>
    (await createSystemctl(systemd.systemctl).show([CONTROL_PLANE_SOCKET]))[0]?.activeState;

  test('one of set-up is closed and removed', async () => {
    await listen((unit) => unit);
    expect(await state()).toBe('active');
    expect(await remove()).toBe(true);
    expect(await state()).toBe('inactive');
    expect(existsSync(file())).toBe(false);
    expect(await remove()).toBe(false);
  });

  test('one of the operator stays', async () => {
    await listen((unit) => unit.split('\n').slice(1).join('\n'));
    expect(await remove()).toBe(false);
    expect(await state()).toBe('active');
  });
});
