import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import type { DaemonSpec } from '../machine/daemon.ts';
import { isRunning, parseShow } from './systemctl.ts';
import { serviceUnit } from './systemd-unit.ts';

const SPEC: DaemonSpec = {
  name: 'php-1',
  description: 'PHP of shop, 100% busy',
  command: ['/bin/echo', 'a b', '$HOME', '100%', 'say "hi"', 'back\\slash', '', "it's"],
  environment: { PLAIN: 'x', ODD: '50% "of" $5 \\' },
  limits: { memoryMb: 512, cpuPercent: 150, processes: 64 },
  stopSignal: 'SIGQUIT',
  stopWithinMs: 2500,
  ready: async () => {},
};

test('a unit contains the whole specification', () => {
  expect(serviceUnit(SPEC)).toBe(`# Written by homeport host; changes are overwritten.
[Unit]
Description=PHP of shop, 100%% busy
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart="/bin/echo" "a b" "$$HOME" "100%%" "say \\"hi\\"" "back\\\\slash" "" "it's"
Environment="LC_ALL=C.UTF-8"
Environment="PLAIN=x"
Environment="ODD=50%% \\"of\\" $5 \\\\"
Restart=always
RestartSec=1
KillSignal=SIGQUIT
KillMode=mixed
TimeoutStopSec=3
OOMPolicy=continue
LimitNOFILE=1048576
MemoryMax=512M
MemorySwapMax=0
CPUQuota=150%
TasksMax=64
`);
});

test('without limits, a daemon may have any number of processes, and stops by the usual signal', () => {
  const unit = serviceUnit({ ...SPEC, limits: null, stopSignal: 'SIGTERM', environment: {} });
  expect(unit).toContain('\nTasksMax=infinity\n');
  expect(unit).not.toContain('MemoryMax');
  expect(unit).toContain('\nKillSignal=SIGTERM\n');
});

test('no value can inject another setting', () => {
  const evil = 'x\nExecStartPre=/bin/evil';
  expect(() => serviceUnit({ ...SPEC, description: evil })).toThrow('cannot have line ends');
  expect(() => serviceUnit({ ...SPEC, command: ['/bin/echo', evil] })).toThrow('cannot have line ends');
  expect(() => serviceUnit({ ...SPEC, environment: { A: evil } })).toThrow('cannot have line ends');
});

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd-analyze verifies it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-unit-'));
  try {
    const file = join(folder, 'homeport-php-1.service');
    await writeFile(file, serviceUnit(SPEC));
    const { stderr } = await runCommand('/usr/bin/systemd-analyze', ['verify', '--man=no', file]);
    expect(stderr.split('\n').filter((line) => line.includes(file) || line.includes('homeport-'))).toEqual(
      [],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('parses systemctl’s output for several units', () => {
  const shown = `MainPID=12
InvocationID=0123456789abcdef0123456789abcdef
NRestarts=3
MemoryCurrent=4096
Id=homeport-a.service
ActiveState=active
SubState=running
NeedDaemonReload=no
Result=success

MainPID=0
NRestarts=0
MemoryCurrent=[not set]
Id=homeport-b.service
ActiveState=inactive
SubState=dead
NeedDaemonReload=yes
Result=signal
`;
  expect(parseShow(shown)).toEqual([
    {
      id: 'homeport-a.service',
      activeState: 'active',
      subState: 'running',
      mainPid: 12,
      invocation: '0123456789abcdef0123456789abcdef',
      result: 'success',
      restarts: 3,
      memoryBytes: 4096,
      statusText: '',
      needsReload: false,
    },
    {
      id: 'homeport-b.service',
      activeState: 'inactive',
      subState: 'dead',
      mainPid: 0,
      invocation: '',
      result: 'signal',
      restarts: 0,
      memoryBytes: null,
      statusText: '',
      needsReload: true,
    },
  ]);
});

test.each([
  ['active', true],
  ['activating', true],
  ['inactive', false],
  // Killed because it took too long to stop.
  ['failed', false],
])('a unit that is %s runs: %s', (activeState, runs) => {
  expect(isRunning({ activeState })).toBe(runs);
});
