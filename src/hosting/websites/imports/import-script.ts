import { StringDecoder } from 'node:string_decoder';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { HOUR_MS } from '../../../lib/durations.ts';
import { RefusedImportError } from '../../contract/errors.ts';
import type { Programs, ScriptEnd } from '../../runtime/runtime.ts';
import { phpErrorIn } from '../../wordpress/failure-sentence.ts';
import type { ImportSteps } from './importable-website.ts';

/** A script of an import. It prints lines of JSON: progress, and in the end a result or the reason of a refusal. */
export interface ImportScript {
  /** Name of one of our PHP files. */
  script: string;
  args: readonly string[];
  input?: string;
}

const Progress = Type.Object({
  progress: Type.Tuple([
    Type.Integer({ minimum: 0 }),
    Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  ]),
});
const Printed = Type.Object({ result: Type.Unknown() });
const Refused = Type.Object({ refused: Type.String() });
const LONGEST_REASON = 1_000;
/** An error of PHP. */
const OUT_OF_MEMORY = 'Allowed memory size';
const LONGEST_LINE = 1024 * 1024;
/** The transfer of a large website takes two hours at most, and says so itself. */
export const IMPORT_SCRIPT_MS = 3 * HOUR_MS;

/** Runs a script. Rejects with a {@link RefusedImportError} if it refuses the website or needs too much. */
export async function runImportScript<Schema extends TSchema>(
  runtime: Programs,
  given: ImportScript,
  result: Schema,
  { signal, report }: ImportSteps,
): Promise<Static<Schema>> {
  let last: unknown = null;
  const lines = lineReader((line) => {
    last = parsed(line);
    if (Value.Check(Progress, last)) report(...last.progress);
  });
  const run = { ...given, timeoutMs: IMPORT_SCRIPT_MS, mostOutput: LONGEST_LINE, take: lines.take };
  const end = await runtime.runScript(run, signal);
  lines.end();
  if (Value.Check(Refused, last)) throw new RefusedImportError(last.refused.slice(0, LONGEST_REASON));
  requireEnd(given.script, end);
  if (Value.Check(Printed, last) && Value.Check(result, last.result)) return last.result;
  throw new Error(`${given.script} printed no result`);
}

/** Throws unless the script ended well: a refusal if it needed too much time or memory, otherwise an error that is retried. */
export function requireEnd(script: string, { exit, stderr }: ScriptEnd): void {
  if (exit === 0) return;
  const said = phpErrorIn(stderr) ?? stderr.trim().slice(-LONGEST_REASON);
  if (exit === null || said.includes(OUT_OF_MEMORY)) {
    throw new RefusedImportError(
      `The website is too large to import here: ${said.replace(/[.\s]*$/, '')}. Import it without what it does not need.`,
    );
  }
  throw new Error(`${script} failed: ${said}`);
}

/** Passes whole lines on. A website's owner decides about their content, so a line without an end is cut. */
function lineReader(take: (line: string) => void) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    take(chunk: Buffer): void {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      rest = (rest + first).slice(0, LONGEST_LINE);
      for (const next of others) {
        take(rest);
        rest = next.slice(0, LONGEST_LINE);
      }
    },
    end(): void {
      if (rest !== '') take(rest);
    },
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
