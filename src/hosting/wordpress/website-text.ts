import { withoutControlCharacters } from '../../lib/one-line.ts';
import { LONGEST_WORDPRESS_TEXT } from '../contract/wordpress.ts';

/** A website's text on one line, cut to the longest that a host passes on. */
export function cleanText(text: string): string {
  return withoutControlCharacters(text).trim().slice(0, LONGEST_WORDPRESS_TEXT).toWellFormed();
}

/** Longest reason that a host passes on. */
const LONGEST_REASON = 400;
/** The file and line of an error of PHP, at the end of a sentence. */
const PLACE = / in \S+:\d+$/;

/** A reason with a website's text on one line. A long one loses its middle, so that the file and line at its end stay. */
export function cleanReason(text: string): string {
  const line = withoutControlCharacters(text).trim().toWellFormed();
  if (line.length <= LONGEST_REASON) return line;
  const [place = ''] = PLACE.exec(line) ?? [];
  return `${line.slice(0, Math.max(0, LONGEST_REASON - place.length))}${place}`
    .slice(0, LONGEST_REASON)
    .toWellFormed();
}
