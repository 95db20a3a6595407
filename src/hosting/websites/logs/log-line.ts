import type { LogKind } from '../../contract/choices.ts';
import { LONGEST_ENTRY, type LogEntries } from '../../contract/logs.ts';

/** JSON.stringify escapes the control characters below U+0020. These others can change what a terminal or an editor shows. */
const DECEIVING = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

/** A text as it is in a log, without quotes. */
export function encodeText(text: string): string {
  return encode(text).slice(1, -1);
}

/** Nearly all texts. Looking for these costs a fraction of the replacement. */
const HARMLESS = /^[ -~]*$/;

function encode(value: unknown): string {
  const text = JSON.stringify(value);
  if (HARMLESS.test(text)) return text;
  return text.replace(
    DECEIVING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const LONGEST_TEXT = 8 * 1024;
/** A line of so many characters has no text to cut, and is short enough in any encoding. */
const SHORT_LINE = LONGEST_ENTRY / 4;

/** The line of an entry: one line of JSON that begins with its time, whatever its texts contain. Long texts are cut. */
export function logLine<Kind extends LogKind>(entry: LogEntries[Kind]): string {
  const { time, ...rest } = entry;
  const whole = encode({ time, ...rest });
  if (whole.length < SHORT_LINE) return `${whole}\n`;
  for (let most = LONGEST_TEXT; ; most = Math.floor(most / 2)) {
    const line = `${encode({ time, ...cutTexts(rest, most) })}\n`;
    if (Buffer.byteLength(line) <= LONGEST_ENTRY) return line;
  }
}

/** The entry as JSON; null if that is too long for a line that has not been cut. */
export function shortLine(entry: object): string | null {
  const whole = encode(entry);
  return whole.length < SHORT_LINE / 2 ? whole : null;
}

function cutTexts(entry: object, most: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((one) => cutText(one, most)) : cutText(value, most),
    ]),
  );
}

const cutText = (value: unknown, most: number): unknown =>
  typeof value === 'string' ? cut(value, most) : value;

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;
}

const LONGEST_OUTPUT = 4_000;

/** The end of what a program printed, for an entry. */
export function endOfOutput(stdout: string, stderr: string): string {
  return `${stdout}${stderr}`.trim().slice(-LONGEST_OUTPUT);
}

/** Every line begins with this, and a time of {@link TIME_LENGTH} characters. */
const START = '{"time":"';
const TIME_LENGTH = 24;

/** The time of a line at this place in a buffer, in milliseconds; NaN for a damaged line. */
export function timeAt(buffer: Buffer, start: number): number {
  const from = start + START.length;
  return Date.parse(buffer.toString('latin1', from, from + TIME_LENGTH));
}
