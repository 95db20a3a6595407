/** How an e-mail address is known, however somebody types it: without white space around it, in lower case. */
export const emailKey = (email: string): string => email.trim().toLowerCase();
