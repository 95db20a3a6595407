import { withoutControlCharacters } from '../../lib/one-line.ts';
import { LONGEST_WORDPRESS_TEXT } from '../contract/wordpress.ts';

/** A website's text on one line, cut to the longest that a host passes on. */
export function cleanText(text: string): string {
  return withoutControlCharacters(text).trim().slice(0, LONGEST_WORDPRESS_TEXT).toWellFormed();
}
