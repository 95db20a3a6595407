import type { StreamListener } from './stream.ts';

/** What the page that holds the stream says to the others: what it heard itself. */
export type Relayed = { heard: 'change'; text: string } | { heard: 'resync' | 'refused' };

/** Tells a listener, and says it to the others as well. */
export function relaying(listener: StreamListener, say: (relayed: Relayed) => void): StreamListener {
  return {
    change(text) {
      say({ heard: 'change', text });
      listener.change(text);
    },
    resync() {
      say({ heard: 'resync' });
      listener.resync();
    },
    refused() {
      say({ heard: 'refused' });
      listener.refused();
    },
  };
}

/** Tells a listener what another page said. What it does not know, from a page of another version, it leaves. */
export function hear(said: unknown, listener: StreamListener): void {
  if (typeof said !== 'object' || said === null || !('heard' in said)) return;
  if (said.heard === 'resync') listener.resync();
  if (said.heard === 'refused') listener.refused();
  if (said.heard === 'change' && 'text' in said && typeof said.text === 'string') listener.change(said.text);
}
