import type { DaemonSpec } from '../machine/daemon.ts';
import { STOP_WITHIN_MS } from './supervised-process.ts';

/** The unit of a daemon: systemd.service(5), systemd.exec(5), systemd.resource-control(5). */
export function serviceUnit(spec: DaemonSpec): string {
  const { environment = {}, limits, stopSignal = 'SIGTERM', stopWithinMs = STOP_WITHIN_MS } = spec;
  const variables = { LC_ALL: 'C.UTF-8', ...environment };
  return [
    '# Written by homeport host; changes are overwritten.',
    '[Unit]',
    `Description=${literal(spec.description)}`,
    // Retry without limit: a website recovers on its own once the cause is gone.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    // `exec` reports a missing program as a failed start.
    'Type=exec',
    `ExecStart=${spec.command.map(commandWord).join(' ')}`,
    ...Object.entries(variables).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    'Restart=always',
    'RestartSec=1',
    `KillSignal=${stopSignal}`,
    // The main process ends its children; systemd kills any that remain.
    'KillMode=mixed',
    `TimeoutStopSec=${Math.ceil(stopWithinMs / 1000)}`,
    // The kernel kills one greedy child, not the whole service.
    'OOMPolicy=continue',
    'LimitNOFILE=1048576',
    ...(limits
      ? [
          `MemoryMax=${limits.memoryMb}M`,
          'MemorySwapMax=0',
          `CPUQuota=${limits.cpuPercent}%`,
          `TasksMax=${limits.processes}`,
        ]
      : ['TasksMax=infinity']),
    '',
  ].join('\n');
}

/** An argument of `ExecStart`. `$` would begin the name of a variable. */
export function commandWord(word: string): string {
  return quoted(word).replaceAll('$', '$$$$');
}

/** A value that may hold spaces, quotes and `%`. */
export function quoted(word: string): string {
  return `"${literal(word).replace(/["\\]/g, '\\$&')}"`;
}

/** Specifiers begin with `%`; a line end would begin another setting. */
function literal(text: string): string {
  if (/[\0\n\r]/.test(text)) throw new Error(`a unit cannot have line ends in it: ${JSON.stringify(text)}`);
  return text.replaceAll('%', '%%');
}
