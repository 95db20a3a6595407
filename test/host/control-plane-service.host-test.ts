import { spawnSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  preparePublicFolder,
  publicCertificateFile,
  publicFolder,
} from '../../src/api/public-certificate.ts';
import { PROGRAM } from '../../src/cli/host/beside.ts';
import {
  hasUserSystemd,
  startUserSystemd,
  type UserSystemd,
} from '../../src/hosting/linux/daemons/user-systemd.fixture.ts';
import { startService } from '../../src/hosting/linux/setup/service-start.ts';
import { controlPlaneUnit } from '../../src/hosting/linux/setup/service-unit.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { freePort } from '../servers/free-port.ts';

const UNIT = 'homeport.service';

describe.runIf(hasUserSystemd)('the control plane’s service', () => {
  let systemd: UserSystemd;
  let folder: string;
  let settings: string;
  let port: number;

  beforeAll(async () => {
    systemd = await startUserSystemd();
    folder = await mkdtemp('/srv/hpt-service-');
    await runCommand('chmod', ['755', folder]);
    const dataDir = join(folder, 'data');
    await mkdir(dataDir, { mode: 0o700 });
    const { uid, gid } = await idsOf('daemon');
    await chown(dataDir, uid, gid);
    await preparePublicFolder(dataDir);
    port = await freePort();
    settings = join(folder, 'homeport.conf');
    // A control plane for Linux hosts would wait for one; the unit's restrictions are the same.
    const lines = [
      `HOMEPORT_DATA_DIR=${dataDir}`,
      `HOMEPORT_LISTEN=127.0.0.1:${port}`,
      ...['HOMEPORT_EDGE_HTTP', 'HOMEPORT_EDGE_HTTPS', 'HOMEPORT_SSH_LISTEN'].map(
        (name) => `${name}=127.0.0.1:0`,
      ),
    ];
    await writeFile(settings, `${lines.join('\n')}\n`);
    const unit = controlPlaneUnit({
      node: process.execPath,
      program: PROGRAM,
      settings,
      user: 'daemon',
      group: 'daemon',
      writable: [dataDir],
      optional: [publicFolder(dataDir)],
      ports: [port],
    });
    await writeFile(join(systemd.unitFolder, UNIT), unit);
    await mkdir(join(systemd.unitFolder, `${UNIT}.d`));
    await writeFile(join(systemd.unitFolder, `${UNIT}.d/here.conf`), hereOnly(log()));
    // The notification socket; systemd as the first process lets every user write to its own.
    const home = dirname(systemd.systemctl);
    await runCommand('chmod', ['755', home]);
    await runCommand('chmod', ['777', join(home, 'systemd/notify')]);
    await runCommand(systemd.systemctl, ['daemon-reload']);
  });
  afterAll(async () => {
    await runCommand(systemd.systemctl, ['stop', UNIT], { timeoutMs: 60_000 });
    await systemd.end();
    await rm(folder, { recursive: true });
  });

  const log = () => join(folder, 'log');

  const start = (restart = false) =>
    startService({
      ...{ unit: UNIT, restart, waitMs: 110_000, onWaiting: () => {} },
      systemctl: systemd.systemctl,
      journalctl: ['/bin/sh', '-c', `cat ${log()}`],
    });

  const shown = async (property: string) =>
    (await runCommand(systemd.systemctl, ['show', `--property=${property}`, '--value', UNIT])).stdout.trim();

  const answers = async () => {
    const url = `https://127.0.0.1:${port}/v1/status`;
    return (await runCommand('curl', ['--silent', '--insecure', '--fail', url])).stdout;
  };

  test('reports readiness once it serves, unprivileged and confined', async () => {
    expect(await start()).toBe(true);
    expect(await answers()).toContain('{');
    const pid = await shown('MainPID');
    expect(await statusOf(pid, 'Uid')).toBe(`${(await idsOf('daemon')).uid}`);
    expect(await statusOf(pid, 'NoNewPrivs')).toBe('1');
    expect(await statusOf(pid, 'CapBnd')).toBe('0000000000000000');
    expect((await stat(join(folder, 'data/homeport.sqlite'))).uid).toBe((await idsOf('daemon')).uid);
  });

  test('publishes its certificate to other users', async () => {
    await start();
    const { uid, gid } = await idsOf('nobody');
    const { stdout } = spawnSync('/bin/cat', [publicCertificateFile(join(folder, 'data'))], {
      ...{ uid, gid, encoding: 'utf8' as const },
    });
    expect(stdout).toContain('BEGIN CERTIFICATE');
  });

  test('restarts when it is killed', async () => {
    await start();
    process.kill(Number(await shown('MainPID')), 'SIGKILL');
    await expect
      .poll(async () => [await shown('NRestarts'), await shown('ActiveState')], { timeout: 110_000 })
      .toEqual(['1', 'active']);
    expect(await answers()).toContain('{');
  });

  test('stops gracefully when systemd stops it', async () => {
    await start();
    await runCommand(systemd.systemctl, ['stop', UNIT], { timeoutMs: 60_000 });
    expect([await shown('Result'), await shown('ExecMainStatus')]).toEqual(['success', '0']);
  });
});

/**
 * A systemd that is not the first process cannot give a service its own mounts, and has no journal. The rest of the unit
 * applies: user, capabilities, system calls, address families.
 */
function hereOnly(log: string): string {
  const mounts = [
    ...[
      'ProtectSystem',
      'ProtectHome',
      'PrivateTmp',
      'PrivateDevices',
      'ProtectControlGroups',
      'ProtectHostname',
    ],
    ...['ProtectKernelLogs', 'ProtectKernelModules', 'ProtectKernelTunables', 'ProtectClock'],
  ];
  return [
    '[Service]',
    ...mounts.map((name) => `${name}=no`),
    'ProtectProc=default',
    'ReadWritePaths=',
    `StandardOutput=append:${log}`,
    `StandardError=append:${log}`,
    '',
  ].join('\n');
}

async function idsOf(name: string): Promise<{ uid: number; gid: number }> {
  const [, , uid, gid] = (await runCommand('getent', ['passwd', name])).stdout.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** The first value of a line in `/proc/<pid>/status`. */
async function statusOf(pid: string, name: string): Promise<string | undefined> {
  const { stdout } = await runCommand('grep', [`^${name}:`, `/proc/${pid}/status`]);
  return stdout.split(/\s+/)[1];
}
