import { failureSentence } from './failure-sentence.ts';

/** Errors that end a page. PHP's log begins each entry with its time. */
const FATAL = /^\[[^\]]*\] (PHP (?:Fatal|Parse|Compile|Core) error: .*)$/;

/** The fatal errors in a part of PHP's log, in its order: without their times, with file and line. */
export function fatalsIn(log: string): string[] {
  return log.split('\n').flatMap((line) => {
    const [, message] = FATAL.exec(line) ?? [];
    return message === undefined ? [] : [failureSentence(message)];
  });
}
