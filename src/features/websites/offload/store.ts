import type { Queries } from '../../../database/database.ts';

/** The outcome of the last request for settings; all null without one. */
export interface OffloadStanding {
  state: 'requested' | 'in_force' | 'refused' | 'removing' | null;
  /** Reason of a refusal, one sentence. */
  reason: string | null;
  updated_at: string | null;
}

/** The validation file of an install. */
export interface ValidationFile {
  name: string;
  content: string;
}

/** The stored settings of an install: `settings` are active, `requested` is the latest request. */
export function findOffload(queries: Queries, installId: string) {
  return queries
    .selectFrom('offload_settings')
    .select(['settings', 'requested', 'state'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

export async function findOffloadStanding(
  queries: Queries,
  installId: string,
): Promise<OffloadStanding | undefined> {
  const row = await queries
    .selectFrom('offload_settings')
    .select(['requested', 'state', 'reason', 'updated_at'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { requested, state, ...rest } = row;
  return { ...rest, state: requested === null ? 'removing' : state };
}

export function findValidationFile(queries: Queries, installId: string): Promise<ValidationFile | undefined> {
  return queries
    .selectFrom('installs')
    .select(['offload_file_name as name', 'offload_file_content as content'])
    .where('id', '=', installId)
    .executeTakeFirst();
}

/** Stores requested settings until they are verified, or null until offload is off; the active ones stay. */
export async function requestOffload(
  queries: Queries,
  installId: string,
  requested: object | null,
  now: string,
): Promise<void> {
  const change = {
    requested: JSON.stringify(requested),
    state: 'requested' as const,
    reason: null,
    updated_at: now,
  };
  await queries
    .insertInto('offload_settings')
    .values({ install_id: installId, settings: null, ...change })
    .onConflict((conflict) => conflict.column('install_id').doUpdateSet(change))
    .execute();
}

/** Ends offload. `latest`: whether no request for settings followed. */
export async function endOffload(queries: Queries, installId: string, latest: boolean): Promise<void> {
  await (latest
    ? queries.deleteFrom('offload_settings').where('install_id', '=', installId).execute()
    : queries
        .updateTable('offload_settings')
        .set({ settings: null })
        .where('install_id', '=', installId)
        .execute());
}

/** Activates settings. `latest`: whether they are the latest request. */
export async function enforceOffload(
  queries: Queries,
  installId: string,
  settings: object,
  { latest, now }: { latest: boolean; now: string },
): Promise<void> {
  await queries
    .updateTable('offload_settings')
    .set({
      settings: JSON.stringify(settings),
      ...(latest ? { state: 'in_force', reason: null } : {}),
      updated_at: now,
    })
    .where('install_id', '=', installId)
    .execute();
}

export async function refuseOffload(
  queries: Queries,
  installId: string,
  reason: string,
  now: string,
): Promise<void> {
  await queries
    .updateTable('offload_settings')
    .set({ state: 'refused', reason, updated_at: now })
    .where('install_id', '=', installId)
    .execute();
}
