import type { ExpressionBuilder, Insertable } from 'kysely';
import type { Database, PreparedQuery, Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { type FactorState, KEEP_EXPIRED_MS, surelyIdleSince } from './state.ts';

/** A session, with the state that every request needs. */
export interface KnownSession extends FactorState {
  id: string;
  user_id: string;
  awaits_second_factor: boolean;
  last_seen_at: string;
  expires_at: string;
}

/** An account of the user that requires a second factor. Open invitations do not count. */
const requiredBy = (eb: ExpressionBuilder<Tables & { person: Tables['users'] }, 'person'>) =>
  eb
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select('account.id')
    .whereRef('member.user_id', '=', 'person.id')
    .where('member.invite_accepted', '=', true)
    .where('account.requires_second_factor', '=', true)
    .limit(1);

const knownSessions = (queries: Queries) =>
  queries
    .selectFrom('sessions as session')
    .innerJoin('users as person', 'person.id', 'session.user_id')
    .select([
      'session.id',
      'session.user_id',
      'session.awaits_second_factor',
      'session.last_seen_at',
      'session.expires_at',
      'person.mfa_enabled',
    ])
    .select((eb) => requiredBy(eb).as('required_by'));

/** The query that every request of a session runs. */
export function prepareFindSession(
  database: Pick<Database, 'prepare'>,
): PreparedQuery<{ tokenHash: string }, KnownSession> {
  return database.prepare<{ tokenHash: string }, KnownSession>(
    (queries, parameter) => knownSessions(queries).where('session.token_hash', '=', parameter('tokenHash')),
    { sessions: ['token_hash', 'tokenHash'], users: 'any', memberships: 'any', accounts: 'any' },
  );
}

/** The query that each open page runs every few seconds. */
export function prepareFindSessionById(
  database: Pick<Database, 'prepare'>,
): PreparedQuery<{ id: string }, KnownSession> {
  return database.prepare<{ id: string }, KnownSession>(
    (queries, parameter) => knownSessions(queries).where('session.id', '=', parameter('id')),
    { sessions: ['id', 'id'], users: 'any', memberships: 'any', accounts: 'any' },
  );
}

export async function findFactorState(queries: Queries, userId: string): Promise<FactorState> {
  const found = await queries
    .selectFrom('users as person')
    .select('person.mfa_enabled')
    .select((eb) => requiredBy(eb).as('required_by'))
    .where('person.id', '=', userId)
    .executeTakeFirst();
  return found ?? { mfa_enabled: false, required_by: null };
}

export async function addSession(queries: Queries, session: Insertable<Tables['sessions']>): Promise<void> {
  await queries.insertInto('sessions').values(session).execute();
}

/** Replaces the token of a session; undefined if it no longer exists. */
export function setSessionToken(
  queries: Queries,
  id: string,
  token_hash: string,
): Promise<{ expires_at: string } | undefined> {
  return queries
    .updateTable('sessions')
    .set({ token_hash })
    .where('id', '=', id)
    .returning('expires_at')
    .executeTakeFirst();
}

/** Stores the minute of a use, unless a later one is stored. */
export async function noteLastSeen(queries: Queries, id: string, minute: string): Promise<void> {
  await queries
    .updateTable('sessions')
    .set({ last_seen_at: minute })
    .where('id', '=', id)
    .where('last_seen_at', '<', minute)
    .execute();
}

/** Sessions that have certainly expired. `now`: ISO 8601 in UTC. */
const hasExpired = (now: string) => (eb: ExpressionBuilder<Tables, 'sessions'>) =>
  eb.or([eb('expires_at', '<=', now), eb('last_seen_at', '<=', surelyIdleSince(now))]);

/**
 * The signed-in sessions of a user that may not have expired, latest first. Because uses are stored late, sessions without use for 12 to 13
 * hours are among them.
 */
export function findSessionsOf(queries: Queries, userId: string, now: string) {
  return queries
    .selectFrom('sessions')
    .select(['id', 'address', 'user_agent', 'created_at', 'last_seen_at', 'expires_at'])
    .where('user_id', '=', userId)
    .where('awaits_second_factor', '=', false)
    .where((eb) => eb.not(hasExpired(now)(eb)))
    .orderBy('seq', 'desc')
    .execute();
}

/** Ends a session at any stage. Returns whether it existed. */
export async function deleteSession(
  queries: Queries,
  session: { id: string; userId: string },
): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('sessions')
    .where('id', '=', session.id)
    .where('user_id', '=', session.userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteSessions(queries: Queries, ids: readonly string[]): Promise<void> {
  await queries.deleteFrom('sessions').where('id', 'in', ids).execute();
}

/** Deletes a session that awaits its second factor. Only one request succeeds; the others get undefined. */
export function takeAwaitingSession(
  queries: Queries,
  id: string,
): Promise<{ user_agent: string | null } | undefined> {
  return queries
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('awaits_second_factor', '=', true)
    .returning('user_agent')
    .executeTakeFirst();
}

/** Counts a wrong code against its session, and ends the session at the last one allowed. */
export async function countWrongCode(queries: Queries, id: string, allowed: number): Promise<void> {
  await queries
    .updateTable('sessions')
    .set((eb) => ({ wrong_codes: eb('wrong_codes', '+', 1) }))
    .where('id', '=', id)
    .execute();
  await queries.deleteFrom('sessions').where('id', '=', id).where('wrong_codes', '>=', allowed).execute();
}

/** Ends the sessions of a user, except `keptId`. */
export async function deleteSessionsOf(
  queries: Queries,
  userId: string,
  keptId: string | null = null,
): Promise<void> {
  let deleting = queries.deleteFrom('sessions').where('user_id', '=', userId);
  if (keptId !== null) deleting = deleting.where('id', '!=', keptId);
  await deleting.execute();
}

/**
 * Deletes sessions that expired some days ago. `now`: ISO 8601 in UTC. Those that wait for a second factor go after an hour, because a
 * user can start any number of them.
 */
export async function deleteExpiredSessions(queries: Queries, now: string): Promise<void> {
  const before = (ms: number) => new Date(Date.parse(now) - ms).toISOString();
  await queries
    .deleteFrom('sessions')
    .where((eb) =>
      eb.or([
        hasExpired(before(KEEP_EXPIRED_MS))(eb),
        eb('awaits_second_factor', '=', true).and('expires_at', '<=', before(HOUR_MS)),
      ]),
    )
    .execute();
}
