import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Runs a program in a folder, with its output on this terminal and more in its environment. Rejects with an Error if it fails. */
export type Run = (
  program: string,
  words: readonly string[],
  folder: string,
  environment?: Readonly<Record<string, string>>,
) => Promise<void>;

export const run: Run = async (program, words, folder, environment = {}) => {
  const env = { ...process.env, ...environment };
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code]: unknown[] = await once(child, 'close');
  if (code !== 0) throw new Error(`"${program} ${words.join(' ')}" failed.`);
};

/** The output of a program, without the last line break. Rejects with an Error if it fails. */
export async function outputOf(program: string, words: readonly string[], folder: string): Promise<string> {
  const child = spawn(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`"${program} ${words.join(' ')}" failed.`);
  return printed.trimEnd();
}
