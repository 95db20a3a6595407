import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

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
