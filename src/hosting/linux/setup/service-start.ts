import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '../../../lib/operator-error.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { createSystemctl } from '../daemons/systemctl.ts';

const LOOK_EVERY_MS = 500;
const SHOWN_LINES = 20;
/** A run that crashes is not a mistake in the settings, so systemd may start it again this often. */
const CRASHES_ALLOWED = 2;
const CRASHES = ['signal', 'core-dump'];

export interface ServiceStart {
  unit: string;
  /** Whether to restart a running service, because its unit or its settings changed. */
  restart: boolean;
  /** Milliseconds until the service must be ready. */
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
  await system.run('stop', unit);
  await system.forgetFailure(unit);
  await system.beginStart(unit);
  const deadline = performance.now() + waitMs;
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
    if (performance.now() >= deadline) {
      throw await failure(`is not ready after ${Math.round(waitMs / 1000)} s`);
    }
    onWaiting();
    await pause(LOOK_EVERY_MS);
  }

  async function failure(what: string): Promise<OperatorError> {
    const written = await lastLines(unit, journalctl);
    // Failures of systemd itself may be in no journal.
    const lines = indented(written === '' ? await system.explain(unit) : written);
    return new OperatorError(`${unit} ${what}. Its last log lines:\n${lines}`);
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
