/** The server's own rule (src/features/identity/ssh-keys/public-key.ts), told before anything is sent. */
const PRIVATE = /PRIVATE KEY|PuTTY-User-Key-File/i;

/** A line of a key and its comment are shorter; what is longer is another file. */
export const LONGEST_KEY_FILE = 16 * 1024;

/** Whether a text is, or holds, the part of a key that nobody else may ever see. */
export const isPrivateKey = (text: string): boolean => PRIVATE.test(text);
