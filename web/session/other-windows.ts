/** Effect of an action in one window: no session, or another session or step of the sign-in. */
export type SessionChange = 'signed_out' | 'changed';

/** Never closed: it lives as long as the window. A channel does not receive its own messages. */
const channel = new BroadcastChannel('homeport-session');

/**
 * Tells the other windows of this browser what the user just did. A window that only learns of a change never announces it: the windows
 * would answer each other without end.
 */
export const announceSession = (change: SessionChange): void => channel.postMessage(change);

/** Calls the listener when the user changes the session in another window, until the returned function is called. */
export function onSessionElsewhere(listener: (change: SessionChange) => void): () => void {
  const receive = ({ data }: MessageEvent<unknown>) => listener(data === 'signed_out' ? data : 'changed');
  channel.addEventListener('message', receive);
  return () => channel.removeEventListener('message', receive);
}
