import type { Queries } from '../../../database/database.ts';

export interface NewRun {
  id: string;
  operation_id: string;
  install_id: string;
  sealed_args: string;
  created_at: string;
}

export async function insertRun(queries: Queries, run: NewRun): Promise<void> {
  await queries.insertInto('wp_cli_runs').values(run).execute();
}

/** The number of commands of an install that wait or run. */
export async function countUnended(queries: Queries, installId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('wp_cli_runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('install_id', '=', installId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes the ended commands of an install except the newest. */
export async function keepNewest(queries: Queries, installId: string, most: number): Promise<void> {
  await queries
    .deleteFrom('wp_cli_runs')
    .where('install_id', '=', installId)
    .where('ended_at', 'is not', null)
    .where('seq', 'not in', (eb) =>
      eb
        .selectFrom('wp_cli_runs')
        .select('seq')
        .where('install_id', '=', installId)
        .orderBy('seq', 'desc')
        .limit(most),
    )
    .execute();
}

/** Takes the arguments of a command that has not begun; undefined if it has begun or is gone. No later call gets them. */
export async function takeArguments(queries: Queries, id: string): Promise<string | undefined> {
  const run = await queries
    .selectFrom('wp_cli_runs')
    .select('sealed_args')
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (!run || run.sealed_args === null) return undefined;
  const taken = await queries
    .updateTable('wp_cli_runs')
    .set({ sealed_args: null })
    .where('id', '=', id)
    .where('sealed_args', 'is not', null)
    .executeTakeFirst();
  return Number(taken.numUpdatedRows) === 1 ? run.sealed_args : undefined;
}

/** Ends a command; without `result`, as failed or cancelled. */
export async function endRun(
  queries: Queries,
  id: string,
  endedAt: string,
  result: { exit_status: number; sealed_output: string } | null = null,
): Promise<void> {
  await queries
    .updateTable('wp_cli_runs')
    .set({ sealed_args: null, ended_at: endedAt, ...result })
    .where('id', '=', id)
    .execute();
}

/** The outputs of a command that ended by itself, while they are kept. */
export function findOutput(
  queries: Queries,
  operationId: string,
): Promise<{ exit_status: number | null; sealed_output: string | null } | undefined> {
  return queries
    .selectFrom('wp_cli_runs')
    .select(['exit_status', 'sealed_output'])
    .where('operation_id', '=', operationId)
    .executeTakeFirst();
}

export async function deleteWpCliRunsBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('wp_cli_runs').where('ended_at', '<', before).execute();
}
