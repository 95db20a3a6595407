import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { CronEntry } from '../../contract/logs.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { endOfOutput } from '../logs/log-line.ts';

/** A run of due tasks. */
export interface CronRun {
  /** Null: the run exceeded a limit and was ended. */
  exit: number | null;
  /** The end of what it printed. */
  output: string;
  /** When the next task is due, in milliseconds; null without one. */
  nextMs: number | null;
}

const WITHIN_MS = 5 * MINUTE_MS;
const MOST_OUTPUT = 16 * 1024 * 1024;
const NEXT = /\nnext:(\d{0,12})$/;

/** Runs due tasks of WP-Cron, and logs the run. Rejects if it could not be started or was cancelled; then nothing is logged. */
export async function runCron(
  runtime: Programs,
  { append, clock }: { append(entry: CronEntry): Promise<void>; clock: Clock },
  signal?: AbortSignal,
): Promise<CronRun> {
  const startedAt = clock.now();
  const run = { script: 'run-cron.php', timeoutMs: WITHIN_MS, mostOutput: MOST_OUTPUT };
  const { exit, stdout, stderr } = await runtime.runScript(run, signal);
  const [end = '', next = ''] = NEXT.exec(stdout) ?? [];
  const output = endOfOutput(stdout.slice(0, stdout.length - end.length), stderr);
  const seconds = (clock.now().getTime() - startedAt.getTime()) / 1_000;
  await append({ time: startedAt.toISOString(), seconds, exit, output });
  return { exit, output, nextMs: next === '' ? null : Number(next) * 1_000 };
}
