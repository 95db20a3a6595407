import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../../lib/compile-cache.ts';
import type { Question } from './guess-thread.ts';

/** The owner of a password. Their address and names are among the first guesses. */
export interface PasswordOwner {
  email: string;
  first_name: string;
  last_name: string;
}

/**
 * The lowest accepted score of zxcvbn. Score 3 means 10^8 guesses or more, which take two years at the 100 guesses a
 * minute that sign-in allows for one user. The 10^6 guesses of score 2 take a week.
 */
const MIN_SCORE = 3;

/** Whether a password is among the first guesses: common, a pattern, or built from the owner's address or names. */
export async function isEasilyGuessed(password: string, owner: PasswordOwner): Promise<boolean> {
  const score = await scoreOf({ password: password.normalize('NFKC'), words: wordsAbout(owner) });
  return score < MIN_SCORE;
}

/** Each word costs time. */
const MAX_WORDS = 20;
const MIN_WORD_LENGTH = 3;

/** Words that an attacker who knows the owner would try first. */
export function wordsAbout({ email, first_name, last_name }: PasswordOwner): string[] {
  const parts = [email, first_name, last_name].flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  const words = ['homeport', email, ...email.split('@'), first_name, last_name, ...parts].map((word) =>
    word.toLowerCase(),
  );
  return [...new Set(words)].filter((word) => word.length >= MIN_WORD_LENGTH).slice(0, MAX_WORDS);
}

interface Waiting {
  resolve(score: number): void;
  reject(error: unknown): void;
}

/** The rating thread, and the requests that wait for it, in order. */
let rating: { thread: Worker; waiting: Waiting[] } | undefined;

/** zxcvbn's score, 0 to 4. Rating takes up to a second of CPU time, so it runs in a worker thread. */
function scoreOf(question: Question): Promise<number> {
  rating ??= startRating();
  const { thread, waiting } = rating;
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    thread.ref();
    thread.postMessage(question);
  });
}

/** Started for the first password: the dictionaries take 30 MB and half a second to load. */
function startRating(): { thread: Worker; waiting: Waiting[] } {
  const thread = new Worker(new URL('./guess-thread.ts', import.meta.url), {
    env: threadEnvironment(),
  });
  const waiting: Waiting[] = [];
  thread.on('message', (score: unknown) => {
    if (typeof score === 'number') waiting.shift()?.resolve(score);
    // An idle thread must not keep the process alive.
    if (waiting.length === 0) thread.unref();
  });
  // The next password starts a new thread.
  thread.on('error', (error) => {
    rating = undefined;
    for (const one of waiting) one.reject(error);
  });
  return { thread, waiting };
}
