import { DATABASE_COOKIE, DATABASE_PATH } from '../../contract/database-access.ts';
import type { RequestTarget } from './request-target.ts';

const COOKIE = new RegExp(`(?:^|;)\\s*${DATABASE_COOKIE}=[^;\\s]`);

/** Whether the path leads to the database, or to a file of the program that shows it. */
export function isDatabasePath({ path }: Pick<RequestTarget, 'path'>): boolean {
  return path.startsWith(DATABASE_PATH);
}

/** Whether the request can belong to a link or a session, so that PHP must look. Other visitors start no PHP. */
export function mayOpenDatabase(
  { query }: Pick<RequestTarget, 'query'>,
  cookie: string | undefined,
): boolean {
  return COOKIE.test(cookie ?? '') || new URLSearchParams(query).has('token');
}
