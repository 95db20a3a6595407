import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import {
  type ControlPlaneService,
  controlPlaneSocket,
  controlPlaneUnit,
  hostServiceUnit,
  NOT_WHILE_UNPACKING,
} from './service-unit.ts';

const SERVICE: ControlPlaneService = {
  node: process.execPath,
  program: '/opt/homeport/bin/homeport.mjs',
  settings: '/etc/homeport/homeport.conf',
  user: 'daemon',
  group: 'daemon',
  writable: ['/var/lib/homeport', '/srv/100% "ours"'],
  ports: [8443],
};
const PACKAGED = { ...SERVICE, program: '/usr/lib/homeport/bin/homeport.mjs' };

test('the host unit passes paths with quotes, percent and dollar signs unchanged', () => {
  const unit = hostServiceUnit({
    node: '/srv/our "homes"/node',
    program: '/srv/100%/$HOME/homeport.mjs',
    settings: '/etc/homeport/homeport.conf',
  });
  expect(unit).toContain(
    'ExecStart="/srv/our \\"homes\\"/node" "/srv/100%%/$$HOME/homeport.mjs" "--config" "/etc/homeport/homeport.conf" "host"\n',
  );
  expect(unit).toContain('Restart=always\n');
});

test('both units start with the machine, report readiness and are never given up', () => {
  for (const unit of [hostServiceUnit(SERVICE), controlPlaneUnit(SERVICE)]) {
    for (const line of [
      'Type=notify',
      'NotifyAccess=all',
      'Restart=always',
      'StartLimitIntervalSec=0',
      'TimeoutStartSec=infinity',
      'WantedBy=multi-user.target',
    ]) {
      expect(unit.split('\n')).toContain(line);
    }
  }
});

test('a service does not start while dpkg unpacks the package', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-unit-'));
  // systemd changes none of its characters.
  expect(NOT_WHILE_UNPACKING).not.toMatch(/[$%\\]/);
  const [, script = ''] = /-c '(.*)'$/.exec(NOT_WHILE_UNPACKING) ?? [];
  const endsWith = async (words: string) => {
    const text = `Package: homeport\nStatus: install ${words}\nMaintainer: a\nArchitecture: amd64\nVersion: 1\nDescription: a\n`;
    await writeFile(join(folder, 'status'), text);
    return runCommand('/bin/sh', ['-c', script], { environment: { DPKG_ADMINDIR: folder } }).then(
      () => 0,
      (error: unknown) => (error instanceof CommandError ? error.status : error),
    );
  };
  try {
    expect(await endsWith('reinstreq half-installed')).toBe(1);
    for (const words of ['reinstreq unpacked', 'ok half-configured', 'ok installed'])
      expect(await endsWith(words), words).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the units of the package do not start then, and those of a clone beside it do', async () => {
  const embedded = join(import.meta.dirname, '../../../../deploy/embedded/homeport.service');
  for (const unit of [
    await readFile(embedded, 'utf8'),
    hostServiceUnit(PACKAGED),
    controlPlaneUnit(PACKAGED),
  ]) {
    expect(unit.split('\n')).toContain(NOT_WHILE_UNPACKING);
  }
  for (const unit of [hostServiceUnit(SERVICE), controlPlaneUnit(SERVICE)])
    expect(unit.split('\n')).not.toContain(NOT_WHILE_UNPACKING);
});

test('the control plane runs as its user and writes to its own folders only', () => {
  const lines = controlPlaneUnit(SERVICE).split('\n');
  expect(lines).toContain('User=daemon');
  expect(lines).toContain('Group=daemon');
  expect(lines).toContain('NoNewPrivileges=yes');
  expect(lines).toContain('ProtectSystem=strict');
  expect(lines).toContain('ReadWritePaths="/var/lib/homeport" "/srv/100%% \\"ours\\""');
  expect(lines).toContain('CapabilityBoundingSet=');
});

test('the control plane may write backups to a folder that is not mounted yet', () => {
  const lines = controlPlaneUnit({ ...SERVICE, optional: ['/mnt/our backups'] }).split('\n');
  expect(lines).toContain('ReadWritePaths="/var/lib/homeport" "/srv/100%% \\"ours\\"" "-/mnt/our backups"');
});

test('the control plane gets the capability for ports below 1024 only if it listens on one', () => {
  expect(controlPlaneUnit({ ...SERVICE, ports: [443, 9100] })).toContain(
    'AmbientCapabilities=CAP_NET_BIND_SERVICE\n',
  );
  expect(controlPlaneUnit(SERVICE)).toContain('\nAmbientCapabilities=\n');
});

test.runIf(existsSync('/usr/bin/systemd-analyze'))(
  'systemd accepts every line of the units, and rates the control plane as protected',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-unit-'));
    try {
      const files = [
        join(folder, 'homeport.service'),
        join(folder, 'homeport-host.service'),
        join(folder, 'homeport.socket'),
      ] as const;
      await writeFile(files[2], controlPlaneSocket({ host: '::1', port: 8443 }));
      await writeFile(
        files[0],
        controlPlaneUnit({ ...PACKAGED, writable: ['/var/lib/homeport'], optional: ['/mnt/our backups'] }),
      );
      await writeFile(files[1], hostServiceUnit(PACKAGED));
      const { stderr } = await runCommand('/usr/bin/systemd-analyze', ['verify', '--man=no', ...files]);
      expect(stderr.split('\n').filter((line) => line.includes('homeport'))).toEqual([]);
      const { stdout } = await runCommand('/usr/bin/systemd-analyze', [
        ...['security', '--offline=true', '--no-pager', files[0]],
      ]);
      const [, exposure] = /Overall exposure level for homeport\.service: ([\d.]+)/.exec(stdout) ?? [];
      // systemd calls it OK up to 4.9, and well protected below 2.
      expect(Number(exposure)).toBeLessThan(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test.runIf(existsSync('/usr/bin/systemd-analyze'))(
  'systemd accepts every line of the units of the embedded host',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-unit-'));
    try {
      const names = ['homeport.service', 'homeport.socket'];
      for (const name of names) {
        const text = await readFile(join(import.meta.dirname, '../../../../deploy/embedded', name), 'utf8');
        await writeFile(join(folder, name), text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      }
      const files = names.map((name) => join(folder, name));
      const { stderr } = await runCommand('/usr/bin/systemd-analyze', ['verify', '--man=no', ...files]);
      expect(stderr.split('\n').filter((line) => line.includes('homeport'))).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
