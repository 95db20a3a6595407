import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A device that is still known, with whose it is. */
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

/** Makes a device known, and forgets those of its person that were made known longest ago, where there are more than may be. */
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
    // SQLite takes no offset without a limit.
    .limit(most)
    .execute();
  if (surplus.length === 0) return;
  const ids = surplus.map(({ id }) => id);
  await queries.deleteFrom('known_devices').where('id', 'in', ids).execute();
}

export async function deleteKnownDevice(queries: Queries, tokenHash: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('token_hash', '=', tokenHash).execute();
}

/** Forgets the device that a session made known. */
export async function deleteKnownDeviceOfSession(queries: Queries, sessionId: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('session_id', '=', sessionId).execute();
}

/** Forgets the devices of a person, but for one. */
export async function deleteKnownDevicesOf(
  queries: Queries,
  userId: string,
  keptId: string | null = null,
): Promise<void> {
  let deleting = queries.deleteFrom('known_devices').where('user_id', '=', userId);
  if (keptId !== null) deleting = deleting.where('id', '!=', keptId);
  await deleting.execute();
}

/** Undefined: there is no such device any more. */
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

/** `now`: as times are stored. */
export async function deleteExpiredKnownDevices(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('known_devices').where('expires_at', '<=', now).execute();
}
