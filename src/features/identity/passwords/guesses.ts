import { Worker } from 'node:worker_threads';
import type { Question } from './guess-thread.ts';

/** Whom a password is for: their address and names are among the first guesses. */
export interface PasswordOwner {
  email: string;
  first_name: string;
  last_name: string;
}

/**
 * The lowest score of zxcvbn that is taken: 3 stands for 10^8 guesses or more. The 100 a minute that signing in allows for one person
 * from everywhere need two years for these, and one week for the 10^6 of score 2.
 */
const LOWEST_SCORE = 3;

/** Whether a password is one of those that are tried first: a common one, a pattern, or made of what is known of its owner. */
export async function isEasilyGuessed(password: string, owner: PasswordOwner): Promise<boolean> {
  const score = await scoreOf({ password: password.normalize('NFKC'), words: wordsAbout(owner) });
  return score < LOWEST_SCORE;
}

/** Each word takes time, however little it says. */
const MOST_WORDS = 20;
const SHORTEST_WORD = 3;

/** What somebody would try first who knows whom it is for. */
export function wordsAbout({ email, first_name, last_name }: PasswordOwner): string[] {
  const parts = [email, first_name, last_name].flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  const words = ['homeport', email, ...email.split('@'), first_name, last_name, ...parts].map((word) =>
    word.toLowerCase(),
  );
  return [...new Set(words)].filter((word) => word.length >= SHORTEST_WORD).slice(0, MOST_WORDS);
}

interface Waiting {
  resolve(score: number): void;
  reject(error: unknown): void;
}

/** The thread that judges, and who waits for it, in the order in which they asked. */
let judge: { thread: Worker; waiting: Waiting[] } | undefined;

/** zxcvbn's points, 0 to 4. It takes up to a second of a processor, so a thread of its own takes it. */
function scoreOf(question: Question): Promise<number> {
  judge ??= startJudge();
  const { thread, waiting } = judge;
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    thread.ref();
    thread.postMessage(question);
  });
}

/** Started when the first password is chosen: the words take 30 MB, and half a second to read. */
function startJudge(): { thread: Worker; waiting: Waiting[] } {
  const thread = new Worker(new URL('./guess-thread.ts', import.meta.url));
  const waiting: Waiting[] = [];
  thread.on('message', (score: unknown) => {
    if (typeof score === 'number') waiting.shift()?.resolve(score);
    // Nobody who has no other work is kept from ending by it.
    if (waiting.length === 0) thread.unref();
  });
  // The next question starts another.
  thread.on('error', (error) => {
    judge = undefined;
    for (const one of waiting) one.reject(error);
  });
  return { thread, waiting };
}
