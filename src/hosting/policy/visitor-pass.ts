import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A pass through the password of a website: the time in seconds until which it counts, and a signature with the key of the website. Its
 * WordPress makes them for its own requests and for users who sign in by a link, the host for its checks.
 */
export const PASS_HEADER = 'X-Homeport-Pass';
/** The cookie of a user who signed in by a link. */
export const PASS_COOKIE = 'homeport_pass';

/** No pass counts longer. */
export const LONGEST_PASS_SECONDS = 24 * 60 * 60;
const PASS_SECONDS = 120;

export function createPass(key: string, now: Date): string {
  const until = Math.floor(now.getTime() / 1000) + PASS_SECONDS;
  return `${until}.${signature(key, `${until}`)}`;
}

export function isPass(key: string, pass: string, now: Date): boolean {
  const [, until = '', signed = ''] = /^(\d{10})\.([0-9a-f]{40})$/.exec(pass) ?? [];
  if (until === '') return false;
  const left = Number(until) - now.getTime() / 1000;
  if (left < 0 || left > LONGEST_PASS_SECONDS) return false;
  return timingSafeEqual(Buffer.from(signature(key, until)), Buffer.from(signed));
}

/** HMAC-SHA1, which nginx's Lua has. */
function signature(key: string, until: string): string {
  return createHmac('sha1', key).update(`pass ${until}`).digest('hex');
}
