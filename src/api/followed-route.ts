import { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../access/caller.ts';
import { EVENT_STREAM } from './event-streams.ts';
import type { QueryParameter, QueryValues } from './query.ts';
import { type Call, checkedCall, type Endpoint, type IncomingCall, queryOf, type Route } from './route.ts';
import { StreamedAnswer } from './stream-route.ts';

/** The newest entries of a followed list. */
interface Batch {
  /** Oldest first. */
  entries: object[];
  /** Where a client continues that connects again. */
  cursor: string;
  isUnavailable: boolean;
}

/** Interval of keep-alive comments, short enough for the idle timeouts of proxies, in milliseconds. */
const COMMENT_MS = 15_000;
/** Milliseconds before a client connects again. */
const RETRY_MS = 3_000;

interface FollowedRouteDefinition<Path extends string, Response extends TSchema, Name extends string>
  extends Omit<Endpoint<Path>, 'method'> {
  /** One of them must be `cursor`. */
  parameters: readonly QueryParameter<Name>[];
  response: Response;
  handle(call: Call<Path> & { query: QueryValues<Name> }): Promise<Static<Response>>;
  /** `cursor`: where to begin; null for the end. */
  follow(
    call: Call<Path> & { query: QueryValues<Name>; cursor: string | null },
    following: { signal: AbortSignal; reauthenticate(): Promise<Caller> },
  ): Promise<AsyncIterable<Batch>>;
}

/**
 * Declares a list that answers JSON, or server-sent events (HTML, section 9.2) to clients that accept those. Each event `entry` is an
 * entry of the list; the ids of events are cursors.
 */
export function followedRoute<Path extends string, Response extends TSchema, Name extends string>(
  definition: FollowedRouteDefinition<Path, Response, Name>,
): Route {
  const { handle, follow, parameters, ...declared } = definition;
  const cursor = parameters.find(({ name }) => name === 'cursor');
  return {
    ...declared,
    method: 'GET',
    success: 200,
    query: parameters,
    isFollowed: true,
    async run(incoming: IncomingCall) {
      const call = {
        ...checkedCall(incoming, 'GET'),
        query: queryOf(incoming, parameters, declared.errors.includes(400)),
      };
      if (!incoming.wantsEvents) return handle(call);
      const { lastEventId } = incoming;
      const given = call.query['cursor' as Name];
      const batches = await follow(
        { ...call, cursor: lastEventId === null ? (given ?? null) : (cursor?.read(lastEventId) ?? null) },
        { signal: incoming.disconnected(), reauthenticate: () => incoming.reauthenticate() },
      );
      // Proxies must not cache, buffer or compress the stream.
      return new StreamedAnswer(
        Readable.from(eventsOf(batches), { objectMode: false }),
        { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
        EVENT_STREAM,
      );
    },
  };
}

async function* eventsOf(batches: AsyncIterable<Batch>): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  let sentAt = performance.now();
  for await (const { entries, cursor, isUnavailable } of batches) {
    const isSilent = entries.length === 0 && !isUnavailable;
    if (isSilent && performance.now() - sentAt < COMMENT_MS) continue;
    sentAt = performance.now();
    if (isUnavailable) yield 'event: unavailable\ndata: {}\n\n';
    else if (isSilent) yield `id: ${cursor}\n:\n\n`;
    else
      yield entries
        .map((entry, index) => eventOf(entry, index === entries.length - 1 ? cursor : null))
        .join('');
  }
}

/** Only the last entry of a batch has an id: a client that connects again may get some entries twice, but misses none. */
function eventOf(entry: object, id: string | null): string {
  return `${id === null ? '' : `id: ${id}\n`}event: entry\ndata: ${JSON.stringify(entry)}\n\n`;
}
