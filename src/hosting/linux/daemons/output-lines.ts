import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Longer lines are cut, so that a program that never ends its line cannot fill the memory. */
const LONGEST_LINE = 4096;

/** Calls `onLine` for each line of a program's output, without its line end, including an unfinished last one. */
export function forEachLine(output: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    // Keep the beginning of an overlong line and discard the rest.
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) onLine(line.slice(0, LONGEST_LINE));
  });
  output.once('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** The last lines of a program's output, for messages. */
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

/** Whether the line reports a problem. Most daemons log everything to one stream, so only the words can tell. */
export function isSerious(line: string): boolean {
  return SERIOUS.test(line);
}
