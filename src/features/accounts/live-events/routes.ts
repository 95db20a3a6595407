import type { Route } from '../../../api/route.ts';
import { StreamedAnswer, streamRoute } from '../../../api/stream-route.ts';
import { eventStream } from './event-stream.ts';
import type { LiveEventService } from './service.ts';

export function liveEventRoutes(liveEvents: LiveEventService): Route[] {
  return [
    streamRoute({
      path: '/events',
      summary: 'What changes in the accounts of the person, as it does; until the session ends',
      tag: 'Live changes',
      errors: [401, 403, 429, 503],
      contentType: 'text/event-stream',
      content:
        'Server-sent events. `change`: {"topic","account_id","install_id","id"}, something was made, changed or deleted. ' +
        '`resync`: some changes may have been missed; always the first.',
      handle: async ({ session }) =>
        new StreamedAnswer(
          eventStream((listener) => liveEvents.follow(session, listener)),
          // Neither kept nor held back nor compressed on the way.
          { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
        ),
    }),
  ];
}
