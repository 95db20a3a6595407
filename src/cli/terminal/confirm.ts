import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { OperatorError } from '../../lib/operator-error.ts';

/** Asks a yes-or-no question. Everything except "y" and "yes" is a no, including Ctrl-C and the end of the input. */
export async function confirm(question: string, input: Readable, output: Writable): Promise<boolean> {
  const prompt = createInterface({ input, output });
  try {
    const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
    const answer = await Promise.race([prompt.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/**
 * Asks on the terminal before an irreversible action. Throws OperatorError with `effect` without a terminal, and with `kept`
 * after a no.
 */
export async function requireConsent(
  question: string,
  { effect, kept }: { effect: string; kept: string },
): Promise<void> {
  if (!process.stdin.isTTY) throw new OperatorError(`${effect} Without a terminal, add --yes.`);
  if (!(await confirm(question, process.stdin, process.stderr))) throw new OperatorError(kept);
}
