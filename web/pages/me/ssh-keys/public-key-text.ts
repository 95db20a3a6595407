/** The server's rule (src/features/identity/ssh-keys/public-key.ts), applied before anything is sent. */
const PRIVATE = /PRIVATE KEY|PuTTY-User-Key-File/i;

/** Longer files are not public keys. */
export const LONGEST_KEY_FILE = 16 * 1024;

/** Returns whether a text is or contains a private key. */
export const isPrivateKey = (text: string): boolean => PRIVATE.test(text);
