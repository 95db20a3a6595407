const KEY = 'homeport-signed-out';

/**
 * Marks a sign-out for the other windows of this browser. The server answers them as after a session that expired, but only after that
 * they may keep their pages.
 */
export function markSignOut(): void {
  localStorage.setItem(KEY, `${Date.now()}-${Math.random()}`);
}

/** Returns the mark of the last sign-out in this browser, which differs for each; null without one. */
export const lastSignOut = (): string | null => localStorage.getItem(KEY);
