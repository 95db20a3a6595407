import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { FORWARDED_HEADERS, METHOD_OVERRIDES } from '../../policy/forwarded-headers.ts';
import { PASS_HEADER } from '../../policy/visitor-pass.ts';
import type { PhpRequest, PhpResponse } from '../../runtime/wasm/php-sites.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { namesVisitor } from './visitor-logins.ts';

/** Of one connection, or the edge's own business. */
const NOT_FORWARDED = new Set(
  [
    'accept-encoding',
    'connection',
    'content-length',
    'expect',
    'host',
    'keep-alive',
    'proxy-authorization',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'x-forwarded-for',
    ...FORWARDED_HEADERS,
    PASS_HEADER,
  ].map((name) => name.toLowerCase()),
);
const NOT_ANSWERED =
  /^(?:connection|keep-alive|transfer-encoding|trailer|upgrade|x-powered-by|x-accel-.*|x-cache|status)$/;
const OVERRIDES = new Set(METHOD_OVERRIDES.map((name) => name.toLowerCase()));

/** Whether a request announces a body. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length'] ?? '');
}

/** The headers of a visitor that PHP gets. */
export function headersForPhp(
  headers: IncomingHttpHeaders,
  vhost: Vhost,
  method: string,
): PhpRequest['headers'] {
  const reads = method === 'GET' || method === 'HEAD';
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => {
      // PHP cannot tell an underscore from a hyphen.
      if (NOT_FORWARDED.has(name) || name.includes('_')) return false;
      if (reads && OVERRIDES.has(name)) return false;
      return name !== 'authorization' || !namesVisitor(vhost, headers.authorization);
    }),
  );
}

/** The headers of PHP's answer that visitors get. */
export function headersForVisitor(headers: PhpResponse['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_ANSWERED.test(name)));
}
