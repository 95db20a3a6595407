import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sets and clears the session's cookie on the answer. */
export interface SessionCookie {
  set(token: string, expiresAt: Date): void;
  clear(): void;
}

/** `__Host-`: no other host, and nothing that came by plain HTTP, can have set it (RFC 6265bis, section 4.1.3). */
export const SESSION_COOKIE = '__Host-homeport-session';
const ATTRIBUTES = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;

export function sessionToken(request: FastifyRequest): string | undefined {
  const header = request.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[SESSION_COOKIE];
}

export function sessionCookie(reply: FastifyReply): SessionCookie {
  const put = (value: string, expires: Date) => {
    reply.header('set-cookie', stringifySetCookie({ name: SESSION_COOKIE, value, ...ATTRIBUTES, expires }));
  };
  return { set: put, clear: () => put('', new Date(0)) };
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
