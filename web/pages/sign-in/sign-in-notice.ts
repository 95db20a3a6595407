/** What the sign-in page says first to somebody who comes from elsewhere. */
const SENTENCES = {
  password_set: { sentence: 'Your password is set. Sign in with it now.', good: true },
  accepted: { sentence: 'You have accepted the invitation. Sign in to go on.', good: true },
  ended: {
    sentence: 'That took too long, or too many codes were wrong. Sign in once more.',
    good: false,
  },
} as const;

/** To somebody whose session ended while they were at work. */
export const SESSION_ENDED = { sentence: 'Your session has ended. Sign in again.', good: false };

export type Word = keyof typeof SENTENCES;

/**
 * It is kept with the entry of the browser's history, so that it goes with the page that it belongs to. `email`: of whom it is known that
 * they want to sign in.
 */
export const noticeState = (word: Word, email?: string) => ({ word, email });

/** The sentence that came along, if there is one. */
export function sentenceOf(state: unknown): { sentence: string; good: boolean } | null {
  const word = memberOf(state, 'word');
  return Object.entries(SENTENCES).find(([known]) => known === word)?.[1] ?? null;
}

/** The address that came along; empty: none did. */
export function emailOf(state: unknown): string {
  const email = memberOf(state, 'email');
  return typeof email === 'string' ? email : '';
}

const memberOf = (state: unknown, name: 'word' | 'email'): unknown =>
  typeof state === 'object' && state !== null ? Reflect.get(state, name) : undefined;
