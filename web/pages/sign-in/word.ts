/** What the sign-in page says first to somebody who comes from elsewhere. */
const SENTENCES = {
  password_set: 'Your password is set. Sign in with it now.',
  accepted: 'You have accepted the invitation. Sign in to go on.',
  ended: 'That took too long, or too many codes were wrong. Sign in once more.',
} as const;

export type Word = keyof typeof SENTENCES;

/** It is kept with the entry of the browser's history, so that it goes with the page that it belongs to. */
export const stateWith = (word: Word) => ({ word });

/** The sentence that came along, if there is one. */
export function sentenceOf(state: unknown): { sentence: string; good: boolean } | null {
  if (typeof state !== 'object' || state === null) return null;
  const word: unknown = Reflect.get(state, 'word');
  for (const [known, sentence] of Object.entries(SENTENCES)) {
    if (known === word) return { sentence, good: word !== 'ended' };
  }
  return null;
}
