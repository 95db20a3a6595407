/** Never closed: it lives as long as the window. A channel does not receive its own messages. */
const channel = new BroadcastChannel('homeport-session');

/** Tells the other windows of this browser that another user, or no one, is signed in now. */
export const announceSession = (): void => channel.postMessage('changed');

/** Calls the listener when another window announces a session, until the returned function is called. */
export function onSessionElsewhere(listener: () => void): () => void {
  channel.addEventListener('message', listener);
  return () => channel.removeEventListener('message', listener);
}
