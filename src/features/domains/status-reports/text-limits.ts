import { printable } from '../../../network/probe/untrusted-text.ts';

/** Whoever owns a name chooses what its servers say: a report keeps so much of it, whatever its size. */
const MAX_RECORDS = 100;
const MAX_TXT_CHARACTERS = 1000;
const MAX_CHARACTERS = 500;
const MAX_SENTENCE_CHARACTERS = 2000;

/** The first records of a type. */
export function firstRecords<T>(records: T[]): T[] {
  return records.slice(0, MAX_RECORDS);
}

/** Text from outside that is no TXT record, without invisible characters; `…` stands for the rest of a longer one. */
export function shortened(text: string): string {
  return cut(printable(text), MAX_CHARACTERS);
}

export function shortenedTxt(text: string): string {
  return cut(text, MAX_TXT_CHARACTERS);
}

/** A sentence of ours that cites several texts from outside. */
export function shortenedSentence(text: string): string {
  return cut(text, MAX_SENTENCE_CHARACTERS);
}

/** Never within a surrogate pair, half of which databases take for no text. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
