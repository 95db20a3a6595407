import type { StreamListener } from './stream.ts';

/** A message from the page that holds the stream to the other pages: an event of the stream. */
export type Relayed = { heard: 'change'; text: string } | { heard: Sign };

/** Events without data. */
const SIGNS = ['opened', 'broken', 'resync', 'refused'] as const;
type Sign = (typeof SIGNS)[number];

/** Returns a listener that passes each event to `listener` and to the other pages. */
export function relayTo(listener: StreamListener, say: (relayed: Relayed) => void): StreamListener {
  const pass = (sign: Sign) => () => {
    say({ heard: sign });
    listener[sign]();
  };
  return {
    change(text) {
      say({ heard: 'change', text });
      listener.change(text);
    },
    opened: pass('opened'),
    broken: pass('broken'),
    resync: pass('resync'),
    refused: pass('refused'),
  };
}

/** Passes a message of another page to a listener. Unknown messages, from a page of another version, are ignored. */
export function receive(message: unknown, listener: StreamListener): void {
  if (typeof message !== 'object' || message === null || !('heard' in message)) return;
  if (message.heard === 'change' && 'text' in message && typeof message.text === 'string')
    listener.change(message.text);
  const sign = SIGNS.find((known) => known === message.heard);
  if (sign) listener[sign]();
}
