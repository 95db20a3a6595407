import type { Queries } from '../database/database.ts';
import type { IdempotencyKeyRow } from '../database/tables/idempotency-keys.ts';

/** Identifies a request with an Idempotency-Key. */
export interface KeyOfRequest {
  owner_id: string;
  key: string;
}

/** The unexpired request with this key. */
export function findKey(
  queries: Queries,
  { owner_id, key }: KeyOfRequest,
  expired: string,
): Promise<IdempotencyKeyRow | undefined> {
  return queries
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('owner_id', '=', owner_id)
    .where('key', '=', key)
    .where('created_at', '>', expired)
    .executeTakeFirst();
}

/**
 * Claims a key with the transaction; a second claim waits for its end. Replaces a key that was made before `expired`. Returns
 * whether the key was free.
 */
export async function claimKey(
  queries: Queries,
  claim: Pick<IdempotencyKeyRow, 'owner_id' | 'key' | 'fingerprint' | 'created_at'>,
  expired: string,
): Promise<boolean> {
  const claimed = await queries
    .insertInto('idempotency_keys')
    .values({ ...claim, status: null, sealed_answer: null })
    .onConflict((conflict) =>
      conflict
        .columns(['owner_id', 'key'])
        .doUpdateSet({
          fingerprint: claim.fingerprint,
          created_at: claim.created_at,
          status: null,
          sealed_answer: null,
        })
        .where('idempotency_keys.created_at', '<=', expired),
    )
    .returning('key')
    .executeTakeFirst();
  return claimed !== undefined;
}

export async function storeAnswer(
  queries: Queries,
  { owner_id, key }: KeyOfRequest,
  answer: Pick<IdempotencyKeyRow, 'status' | 'sealed_answer'>,
): Promise<void> {
  await queries
    .updateTable('idempotency_keys')
    .set(answer)
    .where('owner_id', '=', owner_id)
    .where('key', '=', key)
    .execute();
}

/** Deletes up to `limit` keys made before a time. Returns their number. */
export async function deleteKeysBefore(queries: Queries, before: string, limit: number): Promise<number> {
  const old = queries
    .selectFrom('idempotency_keys')
    .select(['owner_id', 'key'])
    .where('created_at', '<', before)
    .limit(limit);
  const { numDeletedRows } = await queries
    .deleteFrom('idempotency_keys')
    .where((eb) => eb(eb.refTuple('owner_id', 'key'), 'in', old.$asTuple('owner_id', 'key')))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
