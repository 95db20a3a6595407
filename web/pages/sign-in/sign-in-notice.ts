/** Notices on the sign-in page, by the previous step. */
const SENTENCES = {
  password_set: { sentence: 'Your password is set. Sign in with it.', good: true },
  accepted: { sentence: 'You accepted the invitation. Sign in to continue.', good: true },
  ended: {
    sentence: 'It took too long, or too many codes were wrong. Sign in again.',
    good: false,
  },
} as const;

/** For users whose session was ended elsewhere while they used the portal, or whose expired session the server has forgotten. */
export const SESSION_ENDED = { sentence: 'You were signed out. Sign in again.', good: false };

/** For users whose session expired while they used the portal. */
export const SESSION_EXPIRED = {
  sentence: 'Your session has expired. Sign in again. Your page stays as you left it.',
  good: false,
};

export type Word = keyof typeof SENTENCES;

/** Returns a history state that shows a notice on the sign-in page. `email` prefills the email address. */
export const noticeState = (word: Word, email?: string) => ({ word, email });

/** Returns the notice in a history state, if any. */
export function sentenceOf(state: unknown): { sentence: string; good: boolean } | null {
  const word = memberOf(state, 'word');
  return Object.entries(SENTENCES).find(([known]) => known === word)?.[1] ?? null;
}

/** Returns the email address in a history state; empty without one. */
export function emailOf(state: unknown): string {
  const email = memberOf(state, 'email');
  return typeof email === 'string' ? email : '';
}

const memberOf = (state: unknown, name: 'word' | 'email'): unknown =>
  typeof state === 'object' && state !== null ? Reflect.get(state, name) : undefined;
