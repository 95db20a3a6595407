import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** A password, and what is known of whom it is for. */
export interface Question {
  password: string;
  words: string[];
}

/**
 * So many characters are looked at, since the time grows faster than the length: up to half a second for these. Who begins with 64
 * characters that are easily guessed is asked for another password.
 */
const LOOKED_AT = 64;

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LOOKED_AT });

/** A thread of guesses.ts: answers each question with zxcvbn's points, in the order of asking. */
parentPort?.on('message', ({ password, words }: Question) => {
  parentPort?.postMessage(estimator.check(password, words).score);
});
