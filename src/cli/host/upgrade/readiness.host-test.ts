import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  hasUserSystemd,
  startUserSystemd,
  type UserSystemd,
} from '../../../hosting/linux/daemons/user-systemd.fixture.ts';
import { beginRestart } from '../../../hosting/linux/setup/service-start.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { MAY_TAKE_LONG } from '../../../lib/start-steps.ts';
import { whyNotReady } from './readiness.ts';

describe.runIf(hasUserSystemd)('a new version after its installation', () => {
  let systemd: UserSystemd;
  beforeAll(async () => {
    systemd = await startUserSystemd();
  });
  afterAll(() => systemd.end());

  /** Starts a service with a script, and watches it. Steps may take `waitMs`. */
  async function watch(script: string, { unit = CONTROL_PLANE_UNIT, waitMs = 12_000 } = {}) {
    const program = join(dirname(systemd.systemctl), 'script');
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
    const lines = [
      'Type=notify',
      'NotifyAccess=all',
      `ExecStart=${program}`,
      'Restart=always',
      'RestartSec=1',
    ];
    await writeFile(join(systemd.unitFolder, unit), `[Service]\n${lines.join('\n')}\n`);
    await runCommand(systemd.systemctl, ['daemon-reload']);
    await beginRestart(unit, systemd.systemctl);
    const reported: string[] = [];
    const reason = await whyNotReady(
      [unit],
      { listen: { host: '127.0.0.1', port: 1 } },
      {
        waitMs,
        before: [],
        report: (line) => reported.push(line),
        systemctl: systemd.systemctl,
        times: { lookEveryMs: 100, steadyMs: 200 },
      },
    );
    await runCommand(systemd.systemctl, ['stop', unit]);
    return { reason, reported };
  }

  test('is given up if it rests in the middle of its start', async () => {
    const { reason, reported } = await watch(
      'systemd-notify --status="Starting the websites"; exec sleep 600',
    );
    expect(reason).toMatch(/^homeport\.service has shown no sign of life for \d+ s$/);
    expect(reported).toEqual(['homeport.service: Starting the websites']);
  });

  test('is given up if it runs and does not answer', async () => {
    const { reason } = await watch('systemd-notify --ready; exec sleep 600');
    expect(reason).toMatch(/no sign of life/);
  });

  test('is given up if it ends again and again', async () => {
    const { reason } = await watch('exit 1', { waitMs: 600_000 });
    expect(reason).toBe('homeport.service has ended 2 times before it was ready');
  });

  test('may rest while it migrates', async () => {
    // Longer than in another step.
    const script = `systemd-notify --status="Migrating ${MAY_TAKE_LONG}"; sleep 4; systemd-notify --ready; exec sleep 600`;
    expect(await watch(script, { unit: 'homeport-host.service' })).toEqual({
      reason: null,
      reported: [`homeport-host.service: Migrating ${MAY_TAKE_LONG}`],
    });
  });
});
