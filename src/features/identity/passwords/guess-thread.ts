import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** A password to rate, and words about its owner. */
export interface Question {
  password: string;
  words: string[];
}

/**
 * Rates only the first characters, because the time grows faster than the length: up to half a second for 64. A longer
 * password that starts with 64 easily guessed characters is refused.
 */
const RATED_CHARACTERS = 64;

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: RATED_CHARACTERS });

/** The worker thread of guesses.ts. Answers each question with zxcvbn's score, in order. */
parentPort?.on('message', ({ password, words }: Question) => {
  parentPort?.postMessage(estimator.check(password, words).score);
});
