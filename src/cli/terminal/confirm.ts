import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { OperatorError } from '../../lib/operator-error.ts';

/** Asks a question that "y" or "yes" agrees to. Everything else, Ctrl-C and the end of the input too, is a no. */
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
 * Asks on the terminal before something that cannot be undone. `effect` (a sentence) is said where there is no terminal to
 * ask on, `kept` where the answer is no. Throws OperatorError in both.
 */
export async function requireConsent(
  question: string,
  { effect, kept }: { effect: string; kept: string },
): Promise<void> {
  if (!process.stdin.isTTY) throw new OperatorError(`${effect} Without a terminal to ask on, say --yes.`);
  if (!(await confirm(question, process.stdin, process.stderr))) throw new OperatorError(kept);
}
