import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A known device and its user. */
export interface FoundDevice {
  id: string;
  user_id: string;
  email_key: string;
}

export function findKnownDevice(
  queries: Queries,
  tokenHash: string,
  now: string,
): Promise<FoundDevice | undefined> {
  return queries
    .selectFrom('known_devices as device')
    .innerJoin('users as person', 'person.id', 'device.user_id')
    .select(['device.id', 'device.user_id', 'person.email_key'])
    .where('device.token_hash', '=', tokenHash)
    .where('device.expires_at', '>', now)
    .executeTakeFirst();
}

/** Adds a known device, and deletes the user's oldest ones above `most`. */
export async function addKnownDevice(
  queries: Queries,
  device: Insertable<Tables['known_devices']>,
  most: number,
): Promise<void> {
  await queries.insertInto('known_devices').values(device).execute();
  const surplus = await queries
    .selectFrom('known_devices')
    .select('id')
    .where('user_id', '=', device.user_id)
    .orderBy('seq', 'desc')
    .offset(most)
    // SQLite needs a limit with an offset.
    .limit(most)
    .execute();
  if (surplus.length === 0) return;
  const ids = surplus.map(({ id }) => id);
  await queries.deleteFrom('known_devices').where('id', 'in', ids).execute();
}

export async function deleteKnownDevice(queries: Queries, tokenHash: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('token_hash', '=', tokenHash).execute();
}

/** Deletes the device of a session. */
export async function deleteKnownDeviceOfSession(queries: Queries, sessionId: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('session_id', '=', sessionId).execute();
}

/** Deletes the devices of a user, except `keptId`. */
export async function deleteKnownDevicesOf(
  queries: Queries,
  userId: string,
  keptId: string | null = null,
): Promise<void> {
  let deleting = queries.deleteFrom('known_devices').where('user_id', '=', userId);
  if (keptId !== null) deleting = deleting.where('id', '!=', keptId);
  await deleting.execute();
}

/** Replaces the token of a device; undefined if it no longer exists. */
export function setDeviceToken(
  queries: Queries,
  id: string,
  token_hash: string,
): Promise<{ expires_at: string } | undefined> {
  return queries
    .updateTable('known_devices')
    .set({ token_hash })
    .where('id', '=', id)
    .returning('expires_at')
    .executeTakeFirst();
}

/** `now`: ISO 8601 in UTC. */
export async function deleteExpiredKnownDevices(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('expires_at', '<=', now).execute();
}
