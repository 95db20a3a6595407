import fc from 'fast-check';

const LAST = 0x10ffff;
/** The halves of characters beyond U+FFFF, which are no characters alone. */
const HALVES = { first: 0xd800, count: 0x800 };

/**
 * Any character of Unicode, as the `unit` of strings. The unit `binary` of fast-check first puts all 1.1 million characters into a map, which
 * takes half a second of a processor and 90 MB in each process.
 */
export const anyCharacter = fc.integer({ min: 0, max: LAST - HALVES.count }).map(
  (index) => String.fromCodePoint(index < HALVES.first ? index : index + HALVES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('not one character');
    return code < HALVES.first ? code : code - HALVES.count;
  },
);
