import type { Route } from '../../../api/route.ts';
import { StreamedAnswer, streamRoute } from '../../../api/stream-route.ts';
import { eventStream } from './event-stream.ts';
import type { LiveEventService } from './service.ts';

export function liveEventRoutes(liveEvents: LiveEventService): Route[] {
  return [
    streamRoute({
      path: '/events',
      operationId: 'streamEvents',
      summary: 'Stream of changes in your accounts, until the session ends',
      tag: 'Live changes',
      errors: [401, 403, 429, 503],
      contentType: 'text/event-stream',
      content:
        'Server-sent events. `change`: {"topic","account_id","install_id","id"}, a resource was created, changed or deleted. ' +
        '`resync`: changes may have been missed; always the first event.',
      handle: async ({ session }) =>
        new StreamedAnswer(
          eventStream((listener) => liveEvents.follow(session, listener)),
          // Proxies must not cache, buffer or compress the stream.
          { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
        ),
    }),
  ];
}
