import { styleText } from 'node:util';
import { withOwnCommand } from '../../lib/own-command.ts';

/** `styleText` follows NO_COLOR and TERM; FORCE_COLOR must not put escape sequences into files. */
const styled: typeof styleText = (format, text) => (process.stdout.isTTY ? styleText(format, text) : text);

/** A line above a group of lines; bold on a terminal. */
export function heading(text: string): string {
  return styled('bold', text);
}

/** Colours a padded or final word on a terminal. */
export function coloured(text: string, colour: 'green' | 'yellow' | 'red'): string {
  return styled(colour, text);
}

/** Names and values, one pair a line, the values in one column. */
export function alignedPairs(pairs: [string, string][]): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

/** Rows in aligned columns below their titles; for people. */
export function table(titles: string[], rows: string[][]): string {
  const shown = rows.map((row) => row.map(printable));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...shown.map((row) => lengthOf(row[column] ?? ''))),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))))
      .join('  ')
      .trimEnd();
  return `${[heading(line(titles)), ...shown.map(line)].join('\n')}\n`;
}

/** Replaces control and bidirectional characters by spaces, because names come from customers. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ');
}

/** As {@link printable}, but keeps line breaks and tabs: for the output of another program. */
export function printableLines(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) =>
    character === '\n' || character === '\t' ? character : ' ',
  );
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Shortens a text to at most this many characters, with an ellipsis. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** An ISO 8601 time to the minute, or `otherwise` without one. */
export function shownTime(time: string | null, otherwise: string): string {
  return time === null ? otherwise : `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** A size in decimal units, at most one digit after the point. */
export function shownBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power > 0 && value < 100 ? value.toFixed(1) : Math.round(value)} ${UNITS[power] ?? ''}`;
}

/** Shows help, and errors of the command line, with the commands of this installation. */
export const HELP_OUTPUT = {
  writeOut: (text: string) => void process.stdout.write(withOwnCommand(text)),
  writeErr: (text: string) => void process.stderr.write(withOwnCommand(text)),
};

/** For scripts: one JSON value. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
