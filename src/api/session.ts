import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A cookie's value and expiry. */
interface CookieValue {
  token: string;
  expiresAt: Date;
}

/** Sets and clears cookies on the response. */
export interface BrowserCookies {
  /** Sets the session cookie and the device cookie; `device` null keeps the device cookie. */
  set(session: CookieValue & { device: CookieValue | null }): void;
  /** The device cookie only. */
  setDevice(device: CookieValue): void;
  /** The cookie of a browser that starts to sign in with a passkey. */
  setPasskeyBrowser(browser: CookieValue): void;
  /** The session cookie only. */
  clear(): void;
}

/** `__Host-`: neither another host nor plain HTTP can set this cookie (RFC 6265bis section 4.1.3). */
export const SESSION_COOKIE = '__Host-homeport-session';
/** `SameSite=Strict`, as only requests of the sign-in page need the device cookie. */
export const DEVICE_COOKIE = '__Host-homeport-device';
/** Binds the challenge of a passkey to a browser without a session. */
export const PASSKEY_COOKIE = '__Host-homeport-passkey';
const ATTRIBUTES = { path: '/', secure: true, httpOnly: true } as const;

export const sessionToken = (request: FastifyRequest) => cookieOf(request, SESSION_COOKIE);
export const passkeyBrowserToken = (request: FastifyRequest) => cookieOf(request, PASSKEY_COOKIE);
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
    setPasskeyBrowser: (browser) => put(PASSKEY_COOKIE, 'strict', browser),
    clear: () => putSession({ token: '', expiresAt: new Date(0) }),
  };
}

/**
 * Whether the portal's pages or a typed address caused the request, by the headers that browsers send. "same-site" is not enough, because
 * a hosted site may be below the same domain. Requests that change data need a matching `Origin`; a GET may omit it.
 */
export function isSameOrigin(request: FastifyRequest, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  if (site !== undefined && site !== 'same-origin' && (changes || site !== 'none')) return false;
  return origin === undefined ? !changes : origin === ownOrigin;
}
