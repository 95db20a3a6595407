const HEADER = Buffer.from('SQLite format 3\0');
export const HEADER_BYTES = HEADER.length;

/** Whether these are the first bytes of a database of SQLite. */
export const isDatabase = (start: Buffer): boolean => start.subarray(0, HEADER_BYTES).equals(HEADER);
