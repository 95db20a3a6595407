/**
 * Invisible characters other than white space, as ranges of a character class: format characters, fillers, variation selectors (Unicode,
 * Default_Ignorable_Code_Point) and the blank Braille pattern. U+FEFF is white space in JavaScript.
 */
export const INVISIBLE =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2065\\u206a-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0';

const NOTHING_TO_SEE = new RegExp(`^[\\s${INVISIBLE}]*$`);

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => NOTHING_TO_SEE.test(text);
