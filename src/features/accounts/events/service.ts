import type { Caller } from '../../../access/caller.ts';
import { loadScope } from '../../../access/memberships.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { EventPlacement } from './placement.ts';
import type { EventPage } from './schema.ts';
import { type EventFilter, eventsInScope, lastPosition } from './store.ts';
import { eventView } from './view.ts';

export interface EventService {
  /**
   * Events that the caller may see, oldest first, after the cursor. Every event is read exactly once by a client that
   * follows the cursors.
   */
  list(caller: Caller, filter: EventFilter, page: { after: number; limit: number }): Promise<EventPage>;
}

export function createEventService(
  { database }: Pick<Platform, 'database'>,
  placement: EventPlacement,
): EventService {
  const { reader } = database;
  return {
    async list(caller, filter, { after, limit }) {
      // A client that has just changed something sees the event, whether or not a worker is running.
      await placement.place();
      const upTo = await lastPosition(reader);
      const scope = await loadScope(reader, caller, filter.account_id);
      const found = await eventsInScope(reader, scope, filter, { after, upTo, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const hasMore = found.length > limit;
      const next = hasMore ? (shown.at(-1)?.position ?? after) : Math.max(after, upTo);
      return { results: shown.map(eventView), next_cursor: String(next), has_more: hasMore };
    },
  };
}
