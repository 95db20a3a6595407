import { Type } from '../../../api/schema.ts';

const LONGEST = 40;
/** As people write it: digits with what stands between them, an extension behind. White space alone is no number, and allowed. */
const NUMBER = '^ *(\\+?[0-9(][0-9 ()./\\p{Pd}]+(?:(?:x|ext\\.?|;ext=) ?[0-9]+)? *)?$';

/** A telephone number, or null for none. */
export const telephone = () =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: NUMBER, maxLength: LONGEST });

const message = 'A telephone number is written in digits, with spaces or + ( ) . / - between them';

/** What is said of one that is none. */
export const telephoneTexts = { invalid: { summary: message, message } };
