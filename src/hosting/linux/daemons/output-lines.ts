import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** What is longer is cut: a program that never ends its line must not fill the memory. */
const LONGEST_LINE = 4096;

/** Calls `onLine` for every line of a program's output, without its end, and for what stands behind the last. */
export function forEachLine(output: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    // Of a line over the limit the beginning is kept, and what comes until its end is thrown away.
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) onLine(line.slice(0, LONGEST_LINE));
  });
  output.once('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** The last lines of what a program wrote, for messages. */
export interface RecentLines {
  add(line: string): void;
  text(): string;
}

export function recentLines(most = 20): RecentLines {
  const lines: string[] = [];
  return {
    add(line) {
      lines.push(line);
      if (lines.length > most) lines.shift();
    },
    text: () => lines.join('\n'),
  };
}

const SERIOUS = /\b(emerg|alert|crit|critical|error|err|warn|warning|fatal|panic)\b/i;

/** Whether the line speaks of something amiss. Most daemons write all they say to the same stream, so that tells nothing. */
export function isSerious(line: string): boolean {
  return SERIOUS.test(line);
}
