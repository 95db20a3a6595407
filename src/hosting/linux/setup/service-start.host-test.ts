import { writeFileSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from '../daemons/user-systemd.fixture.ts';
import { type ServiceStart, startService } from './service-start.ts';

describe.runIf(hasUserSystemd)('starting a service at set-up', () => {
  let systemd: UserSystemd;
  let journal: string;
  let looks: number;

  beforeAll(async () => {
    systemd = await startUserSystemd();
    const home = dirname(systemd.systemctl);
    journal = join(home, 'journalctl');
    await writeFile(journal, `#!/bin/sh\ncat ${home}/written\n`);
    await chmod(journal, 0o755);
  });
  afterAll(() => systemd.end());

  /** What a service writes goes to a file in the place of the journal. */
  async function write(script: string): Promise<void> {
    const home = dirname(systemd.systemctl);
    await rm(join(home, 'written'), { force: true });
    // As in a journal, the lines of an earlier start stay while the next one begins.
    await writeFile(join(home, 'script'), `#!/bin/sh\nexec >> ${home}/written\n${script}\n`);
    await chmod(join(home, 'script'), 0o755);
    const unit = `[Service]\nType=notify\nNotifyAccess=all\nExecStart=${home}/script\nRestart=always\nRestartSec=1\n`;
    await writeFile(join(systemd.unitFolder, 'started.service'), unit);
    await runCommand(systemd.systemctl, ['daemon-reload']);
  }

  async function start(options: Partial<ServiceStart> = {}): Promise<boolean> {
    looks = 0;
    return startService({
      unit: 'started.service',
      restart: false,
      waitMs: 60_000,
      onWaiting: () => looks++,
      systemctl: systemd.systemctl,
      journalctl: [journal],
      ...options,
    });
  }

  const pid = async () =>
    (await runCommand(systemd.systemctl, ['show', '--property=MainPID', '--value', 'started.service']))
      .stdout;

  test('waits until it reports that it is ready, and leaves one that runs alone', async () => {
    await write(
      `while [ ! -e ${dirname(systemd.systemctl)}/go ]; do sleep 0.05; done; systemd-notify --ready; exec sleep 600`,
    );
    await expect(start({ waitMs: 1_000 })).rejects.toThrow(/^started\.service is not ready after \d+ s\./);
    await writeFile(join(dirname(systemd.systemctl), 'go'), '');
    await start({ restart: true });
    const before = await pid();
    expect(await start()).toBe(false);
    expect(await pid()).toBe(before);
    expect(await start({ restart: true })).toBe(true);
    expect(await pid()).not.toBe(before);
  });

  test('waits longer for one that works than for one that rests', async () => {
    const go = join(dirname(systemd.systemctl), 'works');
    await write(`while [ ! -e ${go} ]; do :; done; systemd-notify --ready; exec sleep 600`);
    let seen = 0;
    const onWaiting = () => {
      // More looks than the time allows.
      if (seen++ === 5) writeFileSync(go, '');
    };
    expect(await start({ restart: true, waitMs: 1_500, onWaiting })).toBe(true);
    expect(seen).toBeGreaterThan(5);
  });

  test('reports one that ends at once with what it wrote, though systemd keeps starting it', async () => {
    await write('echo "homeport: 127.0.0.1:8443 is in use."; exit 1');
    const failed =
      /started\.service ended before it was ready\. Its last log lines:\n {4}homeport: 127\.0\.0\.1:8443 is in use\./;
    await expect(start({ restart: true })).rejects.toThrow(failed);
    // Between two starts of systemd's own.
    await expect(start()).rejects.toThrow(failed);
    expect(await readFile(join(dirname(systemd.systemctl), 'written'), 'utf8')).toContain('in use');
    await runCommand(systemd.systemctl, ['stop', 'started.service']);
  });

  test('lets systemd start one that crashes again, but not for ever', async () => {
    const home = dirname(systemd.systemctl);
    await write(`[ -e ${home}/crashed ] || { touch ${home}/crashed; kill -TRAP $$; }
systemd-notify --ready; exec sleep 600`);
    expect(await start({ restart: true })).toBe(true);
    await write('echo "# Fatal error"; kill -TRAP $$');
    await expect(start({ restart: true })).rejects.toThrow(
      /started\.service ended before it was ready\. Its last log lines:\n {4}# Fatal error/,
    );
    await runCommand(systemd.systemctl, ['stop', 'started.service']);
  });
});
