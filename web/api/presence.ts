/** Events that show that the user is present. */
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
const AWAY_AFTER_MS = 5 * 60_000;

/** Returns a function that tells whether the user touched keyboard, pointer or wheel in the last five minutes. */
export function watchPresence(page: Pick<EventTarget, 'addEventListener'>, now: () => number): () => boolean {
  let touchedAt = now();
  const touch = () => {
    touchedAt = now();
  };
  // Captured, so that a handler that stops propagation does not hide the event.
  for (const sign of SIGNS) page.addEventListener(sign, touch, { capture: true, passive: true });
  return () => now() - touchedAt < AWAY_AFTER_MS;
}
