import type { Static } from 'typebox';
import { type Caller, portalCaller, type RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { endOtherSessions, endSession } from '../sessions/ending.ts';
import type { LastSeen } from '../sessions/last-seen.ts';
import type { sessionSchema } from '../sessions/schema.ts';
import { endOf } from '../sessions/state.ts';
import { deleteSession, findSessionsOf } from '../sessions/store.ts';
import type { RenewedSession } from '../sessions/token.ts';
import { findUserById } from '../users/store.ts';

/** Lists and ends the sessions of a user. */
export interface OwnSessions {
  signOut(session: Session, origin: RequestOrigin): Promise<void>;
  list(session: Session): Promise<Static<typeof sessionSchema>[]>;
  /** Ends one of the caller's sessions. Throws NotFound. */
  end(caller: Caller, sessionId: string): Promise<void>;
  /** Ends the user's other sessions, and gives this one a new token. Throws Unauthenticated. */
  endOthers(session: Session, origin: RequestOrigin): Promise<RenewedSession>;
}

export function createOwnSessions(platform: Platform, lastSeen: Pick<LastSeen, 'of'>): OwnSessions {
  const { database, clock, activity } = platform;
  const { reader } = database;

  async function list({ id, userId }: Session) {
    const now = timestamp(clock);
    const sessions = await findSessionsOf(reader, userId, now);
    return sessions
      .map((session) => ({ ...session, last_seen_at: lastSeen.of(session) }))
      .map((session) => ({ ...session, current: session.id === id, expires_at: endOf(session) }))
      .filter(({ expires_at }) => expires_at > now);
  }

  async function signOut(session: Session, origin: RequestOrigin): Promise<void> {
    const { id, userId, stage } = session;
    await database.write(async (transaction) => {
      const person = await findUserById(transaction.queries, userId);
      // Without the second factor the user was never signed in.
      if (!(await deleteSession(transaction.queries, session)) || !person || stage === 'second_factor')
        return;
      await activity.recordForUser(
        transaction,
        portalCaller(userId, origin),
        { userId },
        { action: 'session.end', subject: { id, name: person.email }, details: { signed_out: true } },
      );
    });
  }

  async function end(caller: Caller, sessionId: string): Promise<void> {
    const { userId } = caller;
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const person = await findUserById(queries, userId);
      if (!person || !(await endSession(queries, { id: sessionId, userId }))) throw new NotFound();
      await activity.recordForUser(
        transaction,
        caller,
        { userId },
        {
          action: 'session.end',
          subject: { id: sessionId, name: person.email },
        },
      );
    });
  }

  async function endOthers(session: Session, origin: RequestOrigin): Promise<RenewedSession> {
    const { userId } = session;
    return database.write(async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'users', userId);
      const person = await findUserById(queries, userId);
      const { renewed, ended } = await endOtherSessions(queries, platform, session);
      if (person && ended > 0) {
        await activity.recordForUser(
          transaction,
          portalCaller(userId, origin),
          { userId },
          {
            action: 'session.end',
            subject: { id: null, name: person.email },
            details: { sessions: ended },
          },
        );
      }
      return renewed;
    });
  }

  return { list, signOut, end, endOthers };
}
