import { decoded, phpName } from './query-names.ts';

/** Every answer below these segments of a path may be individual. */
export const PERSONAL_SEGMENTS = [
  'wp-admin',
  'wp-login.php',
  'wp-json',
  'wp-cron.php',
  'xmlrpc.php',
  'cart',
  'checkout',
  'my-account',
];

/** WordPress answers by its REST API if a query has this parameter. */
export const PERSONAL_PARAMETER = 'rest_route';

/** Whether the page cache never keeps an answer at this path with query, in any way that PHP and WordPress read it. */
export function isPersonalPage(uri: string): boolean {
  const mark = uri.indexOf('?');
  const path = `${decoded(mark < 0 ? uri : uri.slice(0, mark)).toLowerCase()}/`;
  if (PERSONAL_SEGMENTS.some((segment) => path.includes(`/${segment}/`))) return true;
  if (mark < 0) return false;
  return uri
    .slice(mark + 1)
    .split('&')
    .some((parameter) => phpName(parameter).replaceAll('[', '_').startsWith(PERSONAL_PARAMETER));
}
