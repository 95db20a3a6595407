import type { Session } from '../../../access/session.ts';
import { timestamp } from '../../../lib/clock.ts';
import { RateLimited } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { endOf, stageOf } from '../../identity/sessions/state.ts';
import { prepareFindSessionById } from '../../identity/sessions/store.ts';
import { createFollower, LIVE_TIMES, type LiveListener } from './follower.ts';
import { rightsFrom } from './rights.ts';
import { prepareRightsOf } from './store.ts';

/** Open streams of one user in one process, over all their sessions. Each open page has one. */
const MAX_STREAMS_PER_USER = 20;
const RETRY_SECONDS = 10;

export interface LiveEventService {
  /**
   * Sends a listener the changes that a session may see, until the session ends or the returned function is called. Throws
   * RateLimited if the user already has too many listeners.
   */
  follow(session: Session, listener: LiveListener): () => void;
  /** Ends all streams, and new ones at once. */
  close(): void;
}

export function createLiveEventService(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  times = LIVE_TIMES,
): LiveEventService {
  const sessionOf = prepareFindSessionById(database);
  const rightsOf = prepareRightsOf(database);
  const ends = new Set<() => void>();
  const streams = new Map<string, number>();
  let closed = false;

  async function isLive({ id }: Session): Promise<boolean> {
    const [session] = await sessionOf({ id });
    return session !== undefined && endOf(session) > timestamp(clock) && stageOf(session) === 'full';
  }

  function count(userId: string, difference: 1 | -1): void {
    const counted = (streams.get(userId) ?? 0) + difference;
    if (counted > MAX_STREAMS_PER_USER) throw new RateLimited(RETRY_SECONDS);
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
        rights: async () => rightsFrom(session.userId, await rightsOf({ userId: session.userId })),
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
