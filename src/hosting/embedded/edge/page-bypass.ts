import type { IncomingHttpHeaders } from 'node:http';
import { hasBypassCookie, isUncached } from '../../policy/cache-rules.ts';
import {
  PASSING_ACCEPT,
  PASSING_HEADERS,
  PASSING_REQUESTED_WITH,
} from '../../policy/page-request-headers.ts';
import { hasPersonalCookie } from '../../policy/personal-cookies.ts';
import { isPersonalPage } from '../../policy/personal-pages.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { hasBody } from './php-headers.ts';
import { type SitePath, uriOf } from './request-target.ts';
import { namesVisitor } from './visitor-logins.ts';

const PASSING = PASSING_HEADERS.map((name) => name.toLowerCase());
const JSON_OR_EVENTS = new RegExp(PASSING_ACCEPT, 'i');

/** Whether PHP itself answers the request, because the answer can be individual. `uri`: path and query as received. */
export function bypassesPageCache(
  { method, headers }: { method: string; headers: IncomingHttpHeaders },
  vhost: Vhost,
  path: SitePath,
  uri: string,
): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || hasBody(headers)) return true;
  if (PASSING.some((name) => isPassing(name, headers, vhost))) return true;
  if (headers['x-requested-with'] === PASSING_REQUESTED_WITH) return true;
  if (JSON_OR_EVENTS.test(headers.accept ?? '')) return true;
  if (hasPersonalCookie(headers.cookie) || hasBypassCookie(vhost.pages, headers.cookie)) return true;
  return isPersonalPage(uri) || isUncached(vhost.pages, uriOf({ ...path, folder: false }).replace(/\/$/, ''));
}

/** Credentials for the website's password do not make a page individual. */
function isPassing(name: string, headers: IncomingHttpHeaders, vhost: Vhost): boolean {
  if (headers[name] === undefined) return false;
  return name !== 'authorization' || !namesVisitor(vhost, headers.authorization);
}
