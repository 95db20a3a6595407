import type { Session } from '../../../access/session.ts';
import { timestamp } from '../../../lib/clock.ts';
import { RateLimited } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { endOf, stageOf } from '../../identity/sessions/state.ts';
import { findFactorState } from '../../identity/sessions/store.ts';
import { createFollower, LIVE_TIMES, type LiveListener } from './follower.ts';
import { findSession, loadRights } from './store.ts';

/** Streams of one person in one process, over all their sessions; each is a page that somebody has open. */
const STREAMS_OF_A_PERSON = 20;
const TRY_AGAIN_SECONDS = 10;

export interface LiveEventService {
  /**
   * Tells a listener of the changes that a session may see, until the session ends or the returned function is called. Throws
   * RateLimited where its person has too many listeners already.
   */
  follow(session: Session, listener: LiveListener): () => void;
  /** Ends them all, and those that come later at once. */
  close(): void;
}

export function createLiveEventService(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  times = LIVE_TIMES,
): LiveEventService {
  const { reader } = database;
  /** How to end each that is followed. */
  const ends = new Set<() => void>();
  const streams = new Map<string, number>();
  let closed = false;

  async function isLive({ id, userId }: Session): Promise<boolean> {
    const session = await findSession(reader, id);
    if (!session || endOf(session) <= timestamp(clock)) return false;
    const standing = await findFactorState(reader, userId);
    return stageOf({ ...session, ...standing }) === 'full';
  }

  function count(userId: string, difference: 1 | -1): void {
    const counted = (streams.get(userId) ?? 0) + difference;
    if (counted > STREAMS_OF_A_PERSON) throw new RateLimited(TRY_AGAIN_SECONDS);
    if (counted > 0) streams.set(userId, counted);
    else streams.delete(userId);
  }

  return {
    follow(session, listener) {
      count(session.userId, 1);
      const follower = createFollower({
        userId: session.userId,
        listener: {
          ...listener,
          ended() {
            unsubscribe();
            ends.delete(follower.end);
            count(session.userId, -1);
            listener.ended();
          },
        },
        rights: () => loadRights(reader, session.userId),
        isLive: () => isLive(session),
        times,
      });
      const unsubscribe = database.changes.subscribe(follower);
      ends.add(follower.end);
      if (closed) follower.end();
      return follower.end;
    },
    close() {
      closed = true;
      for (const end of [...ends]) end();
    },
  };
}
