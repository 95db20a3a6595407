import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a cookie holds, and until when. */
interface CookieValue {
  token: string;
  expiresAt: Date;
}

/** Sets and clears cookies on the answer. */
export interface BrowserCookies {
  /** The session's, and the one by which the browser is known later; `device` null: that one stays as it is. */
  set(session: CookieValue & { device: CookieValue | null }): void;
  /** The one by which the browser is known later, alone. */
  setDevice(device: CookieValue): void;
  /** The session's alone. */
  clear(): void;
}

/** `__Host-`: no other host, and nothing that came by plain HTTP, can have set it (RFC 6265bis, section 4.1.3). */
export const SESSION_COOKIE = '__Host-homeport-session';
/** Only the sign-in page's own requests need it, so no link from elsewhere brings it (`SameSite=Strict`). */
export const DEVICE_COOKIE = '__Host-homeport-device';
const ATTRIBUTES = { path: '/', secure: true, httpOnly: true } as const;

export const sessionToken = (request: FastifyRequest) => cookieOf(request, SESSION_COOKIE);
export const deviceToken = (request: FastifyRequest) => cookieOf(request, DEVICE_COOKIE);

function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const header = request.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[name];
}

export function browserCookies(reply: FastifyReply): BrowserCookies {
  const put = (name: string, sameSite: 'lax' | 'strict', { token, expiresAt }: CookieValue) => {
    const cookie = { name, value: token, ...ATTRIBUTES, sameSite, expires: expiresAt };
    reply.header('set-cookie', stringifySetCookie(cookie));
  };
  const putSession = (session: CookieValue) => put(SESSION_COOKIE, 'lax', session);
  const setDevice = (device: CookieValue) => put(DEVICE_COOKIE, 'strict', device);
  return {
    set(session) {
      putSession(session);
      if (session.device !== null) setDevice(session.device);
    },
    setDevice,
    clear: () => putSession({ token: '', expiresAt: new Date(0) }),
  };
}

/**
 * Whether a request was sent by our own pages, or by a person who typed the address; every browser says so. A hosted site
 * below the same domain is "same-site" and for that reason kept out as well. What changes something needs a matching
 * `Origin`; a GET may lack it, but not contradict it.
 */
export function isSameOrigin(request: FastifyRequest, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  if (site !== undefined && site !== 'same-origin' && (changes || site !== 'none')) return false;
  return origin === undefined ? !changes : origin === ownOrigin;
}
