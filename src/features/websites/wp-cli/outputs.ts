import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import type { WpCliResult } from '../../../hosting/contract/wp-cli.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { findOutput } from './store.ts';

/** How long outputs are kept. */
export const KEEP_OUTPUTS_MS = HOUR_MS;
/** Outputs of one install that are kept at most. */
export const MOST_KEPT = 20;

const outputSchema = Type.Object({
  stdout: Type.String(),
  stderr: Type.String(),
  stdoutTruncated: Type.Boolean(),
  stderrTruncated: Type.Boolean(),
});

/** The outputs of a command, encrypted for the database. */
export function sealOutput(
  sealer: Pick<Sealer, 'seal'>,
  { stdout, stderr, stdoutTruncated, stderrTruncated }: WpCliResult,
): string {
  return sealer.seal(JSON.stringify({ stdout, stderr, stdoutTruncated, stderrTruncated }));
}

/** The result of an operation `wordpress.cli` with its outputs; null once they are deleted. */
export async function readOutput(
  queries: Queries,
  sealer: Pick<Sealer, 'open'>,
  operationId: string,
): Promise<WpCliResult | null> {
  const run = await findOutput(queries, operationId);
  if (!run || run.exit_status === null || run.sealed_output === null) return null;
  const output = Value.Parse(outputSchema, JSON.parse(sealer.open(run.sealed_output)));
  return { exitStatus: run.exit_status, ...output };
}

/** The outputs as fields of the operation's result. */
export function outputFields(result: WpCliResult): Record<string, string> {
  return {
    stdout: result.stdout,
    stderr: result.stderr,
    ...(result.stdoutTruncated ? { stdout_truncated: 'true' } : {}),
    ...(result.stderrTruncated ? { stderr_truncated: 'true' } : {}),
  };
}
