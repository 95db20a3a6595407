import type { Queries } from '../../../database/database.ts';

/** How the last request for settings fared; all null: there was none. */
export interface OffloadStanding {
  state: 'requested' | 'in_force' | 'refused' | null;
  /** Why it was refused, one sentence. */
  reason: string | null;
  updated_at: string | null;
}

/** What proves that a bucket is the customer's. */
export interface ValidationFile {
  name: string;
  content: string;
}

/** The settings of an install as they are stored: `settings` in force, `requested` asked for last. */
export function findOffload(queries: Queries, installId: string) {
  return queries
    .selectFrom('offload_settings')
    .select(['settings', 'requested', 'state'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

export function findOffloadStanding(
  queries: Queries,
  installId: string,
): Promise<OffloadStanding | undefined> {
  return queries
    .selectFrom('offload_settings')
    .select(['state', 'reason', 'updated_at'])
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

export function findValidationFile(queries: Queries, installId: string): Promise<ValidationFile | undefined> {
  return queries
    .selectFrom('installs')
    .select(['offload_file_name as name', 'offload_file_content as content'])
    .where('id', '=', installId)
    .executeTakeFirst();
}

/** Notes settings that are to be checked; what is in force stays so. */
export async function requestOffload(
  queries: Queries,
  installId: string,
  requested: object,
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

/** Puts settings in force; `latest`: they are those that were asked for last. */
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
