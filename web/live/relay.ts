import type { StreamListener } from './stream.ts';

/** What the page that holds the stream says to the others: what it heard itself. */
export type Relayed = { heard: 'change'; text: string } | { heard: Sign };

/** What is told without more. */
const SIGNS = ['opened', 'broken', 'resync', 'refused'] as const;
type Sign = (typeof SIGNS)[number];

/** Tells a listener, and says it to the others as well. */
export function relaying(listener: StreamListener, say: (relayed: Relayed) => void): StreamListener {
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

/** Tells a listener what another page said. What it does not know, from a page of another version, it leaves. */
export function hear(said: unknown, listener: StreamListener): void {
  if (typeof said !== 'object' || said === null || !('heard' in said)) return;
  if (said.heard === 'change' && 'text' in said && typeof said.text === 'string') listener.change(said.text);
  const sign = SIGNS.find((known) => known === said.heard);
  if (sign) listener[sign]();
}
