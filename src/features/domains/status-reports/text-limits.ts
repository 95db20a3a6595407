import { printable } from '../../../network/probe/untrusted-text.ts';

/** Owners of a name control what its servers send, so reports limit how much they keep. */
const MAX_RECORDS = 100;
const MAX_TXT_CHARACTERS = 1000;
const MAX_CHARACTERS = 500;
const MAX_SENTENCE_CHARACTERS = 2000;

/** The first records of a type. */
export function firstRecords<T>(records: T[]): T[] {
  return records.slice(0, MAX_RECORDS);
}

/** Shortens untrusted text other than TXT records and removes invisible characters. Cut text ends with `…`. */
export function shortened(text: string): string {
  return cut(printable(text), MAX_CHARACTERS);
}

export function shortenedTxt(text: string): string {
  return cut(text, MAX_TXT_CHARACTERS);
}

/** Shortens one of our sentences, which may quote several untrusted texts. */
export function shortenedSentence(text: string): string {
  return cut(text, MAX_SENTENCE_CHARACTERS);
}

/** Never cuts inside a surrogate pair, because databases reject half of one. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
