/** What somebody does who is there. */
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
const AWAY_AFTER_MS = 5 * 60_000;

/** Tells whether somebody is at the page: whether they have touched keyboard, pointer or wheel in the last five minutes. */
export function watchPresence(page: Pick<EventTarget, 'addEventListener'>, now: () => number): () => boolean {
  let touchedAt = now();
  const touch = () => {
    touchedAt = now();
  };
  // On the way down, so that no part of the page keeps it for itself.
  for (const sign of SIGNS) page.addEventListener(sign, touch, { capture: true, passive: true });
  return () => now() - touchedAt < AWAY_AFTER_MS;
}
