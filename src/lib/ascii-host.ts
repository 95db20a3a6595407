import { domainToASCII } from 'node:url';

/** ASCII characters that URL parsing would cut off, decode or drop. */
const FOREIGN = /(?![A-Za-z0-9.-])\p{ASCII}/u;

/** A host name in ASCII and lower case (IDNA); empty if it has none. */
export const asciiHost = (name: string): string =>
  FOREIGN.test(name) ? '' : domainToASCII(name).toLowerCase();
