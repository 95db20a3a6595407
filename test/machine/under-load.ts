import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Value } from 'typebox/value';
import { messageOf } from '../../src/lib/error-message.ts';
import type { NamespaceMachine } from './namespace-machine.ts';
import { type Load, Outcome } from './visitors.ts';

const PROGRAM = join(import.meta.dirname, 'visitors.ts');
/** Of load before and after the work. */
const STEADY_MS = 3_000;

/** Sends load to a machine while `work` is done. Rejects if a request fails, or if the work does. Resolves with what was sent. */
export async function underLoad(
  machine: Pick<NamespaceMachine, 'inItsNetwork'>,
  load: Load,
  work: () => Promise<void>,
): Promise<Outcome> {
  const [program, ...words] = machine.inItsNetwork(process.execPath, PROGRAM);
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const printed = text(child.stdout);
  child.stdin.end(JSON.stringify(load));
  const reasons: string[] = [];
  try {
    await pause(STEADY_MS);
    await work();
    await pause(STEADY_MS);
  } catch (error) {
    reasons.push(messageOf(error));
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  const outcome = Value.Parse(Outcome, JSON.parse(await printed));
  reasons.push(...outcome.failures);
  if (reasons.length > 0)
    throw new Error(
      `of ${outcome.requests} requests (the visitors stood still for ${outcome.stalledMs} ms):\n${reasons.join('\n')}`,
    );
  return outcome;
}
