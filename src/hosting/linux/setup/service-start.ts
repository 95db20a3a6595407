import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { createSystemctl } from '../daemons/systemctl.ts';

const LOOK_EVERY_MS = 500;
const SHOWN_LINES = 20;
/** A run that crashes is not a mistake in the settings, so systemd may start it again this often. */
const CRASHES_ALLOWED = 2;
const CRASHES = ['signal', 'core-dump'];
/** A busy service may take this many times as long as one that waits, because the machine may be slow. */
const MOST_TIMES = 10;

export interface ServiceStart {
  unit: string;
  /** Whether to restart a running service, because its unit or its settings changed. */
  restart: boolean;
  /**
   * Milliseconds until the service must be ready. Time in which it works does not count, up to ten times as long: an emulated or busy
   * machine takes minutes to load the program.
   */
  waitMs: number;
  /** Called at each check while the service is starting. */
  onWaiting(): void;
  /** Programs; tests use their own. */
  systemctl?: string;
  journalctl?: readonly [string, ...string[]];
}

/**
 * Starts a service with `Type=notify` and waits until it is ready. Returns whether it had to be started. Throws OperatorError
 * with the last lines of its journal if it exits early, crashes for the third time or is not ready in time.
 */
export async function startService({
  unit,
  restart,
  waitMs,
  onWaiting,
  systemctl = 'systemctl',
  journalctl = ['journalctl'],
}: ServiceStart): Promise<boolean> {
  const system = createSystemctl(systemctl);
  const look = async () => (await system.show([unit]))[0];
  if (!restart && (await look())?.activeState === 'active') return false;
  await beginRestart(unit, systemctl);
  const began = performance.now();
  let idleMs = 0;
  let crashes = 0;
  for (;;) {
    const status = await look();
    if (status?.activeState === 'active') return true;
    // systemd restarts it after a failure, so a check can miss the moment between two starts.
    const { restarts = 0, result = '' } = status ?? {};
    if (restarts > crashes || status?.activeState === 'failed' || status?.subState === 'auto-restart') {
      const crashed = restarts <= crashes && CRASHES.includes(result);
      if (crashed) crashes = restarts + 1;
      if (!crashed || crashes > CRASHES_ALLOWED) throw await failure('ended before it was ready');
    }
    const takenMs = performance.now() - began;
    if (idleMs >= waitMs || takenMs >= waitMs * MOST_TIMES) {
      throw await failure(`is not ready after ${Math.round(takenMs / 1000)} s`);
    }
    onWaiting();
    const looked = performance.now();
    await pause(LOOK_EVERY_MS);
    if (!(await isWorking(status?.mainPid ?? 0))) idleMs += performance.now() - looked;
  }

  async function failure(what: string): Promise<OperatorError> {
    const written = await lastLines(unit, journalctl);
    // Failures of systemd itself may be in no journal.
    const lines = indented(written === '' ? await system.explain(unit) : written);
    return new OperatorError(`${unit} ${what}. Its last log lines:\n${lines}`);
  }
}

/** Restarts a service without waiting until it is up. systemd counts its failures from here. */
export async function beginRestart(unit: string, systemctl = 'systemctl'): Promise<void> {
  const system = createSystemctl(systemctl);
  await system.run('stop', unit);
  await system.forgetFailure(unit);
  await system.beginStart(unit);
}

/** Whether a process runs, waits for a processor, or reads from a disk: proc_pid_stat(5). */
export async function isWorking(pid: number): Promise<boolean> {
  if (pid === 0) return false;
  try {
    return /^.*\) [RD] /s.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // It has just ended.
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

async function lastLines(unit: string, [program, ...args]: readonly [string, ...string[]]): Promise<string> {
  const options = [`--lines=${SHOWN_LINES}`, '--output=cat', '--no-pager', '--quiet', `--unit=${unit}`];
  try {
    return (await runCommand(program, [...args, ...options])).stdout.trim();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return `The journal cannot be read: ${error.message}`;
  }
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}
