/** Digits of the longest number that is compared by its value. */
const LONGEST_NUMBER = 16;

/** Returns a key that sorts ASCII texts as people expect: `shop-2` before `shop-10`. */
export const numberOrderKey = (text: string): string =>
  text.replaceAll(/\d+/g, (digits) => digits.padStart(LONGEST_NUMBER, '0'));
