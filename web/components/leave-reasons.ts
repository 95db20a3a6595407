import { useLayoutEffect, useSyncExternalStore } from 'react';

/** Why the user should not leave the page now. The last one is shown. */
let reasons: readonly { sentence: string }[] = [];
const listeners = new Set<() => void>();

function change(next: typeof reasons): void {
  reasons = next;
  for (const listener of listeners) listener();
}

/** Asks before the user leaves the page while `sentence`, which says what would be lost, is not null (leave-confirmation.tsx). */
export function useLeaveReason(sentence: string | null): void {
  // Before the next paint, because the user may leave before it.
  useLayoutEffect(() => {
    if (sentence === null) return;
    const reason = { sentence };
    change([...reasons, reason]);
    return () => change(reasons.filter((other) => other !== reason));
  }, [sentence]);
}

/** Returns what would be lost; null if nothing. */
export const leaveReason = (): string | null => reasons.at(-1)?.sentence ?? null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns {@link leaveReason}, and renders again when it changes. */
export const useShownLeaveReason = (): string | null => useSyncExternalStore(subscribe, leaveReason);
