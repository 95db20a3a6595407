import { isPagePath } from '../../../hosting/contract/page-path.ts';
import { FAULTS_TOLD, type Fault, InvalidRequest, invalidValue } from '../../../lib/failures.ts';
import type { PurgeType } from './jobs.ts';

/** The fault of a path that a user wants to purge; undefined if it is the path of a page, with or without a query. */
export function faultOfPagePath(text: string): { code: string; message: string } | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(text)) {
    return invalid(
      'Give the path of the page without its host name: /news/ for https://www.example.com/news/',
    );
  }
  if (!text.startsWith('/')) return invalid('A path must begin with /');
  if (text.includes('#')) return invalid('A path must have no #: leave out the part that begins with it');
  // Otherwise the purge would silently miss the pages that the user means.
  if (pathOf(text).includes('*')) {
    return invalid('A path has no wildcards: name each page, purge all pages, or write %2A for a *');
  }
  if (/\s/.test(text)) return invalid('A path must have no white space: write %20 for a space');
  if (!isPagePath(pathOf(text))) {
    return invalid('A path must have no control characters and no segments . and ..');
  }
}

const invalid = (message: string) => ({ code: 'invalid_format', message });

/** The paths to purge, without queries, because a purge covers every query. Throws InvalidRequest. */
export function pathsToPurge(cache: PurgeType, paths: readonly string[]): string[] {
  if (cache !== 'page') {
    throw invalidValue('Cache', 'paths', 'not_allowed', 'Only purges of the type page accept paths');
  }
  const faults = paths.flatMap((path, index): Fault[] => {
    const fault = faultOfPagePath(path);
    if (fault === undefined) return [];
    return [{ resource: 'Cache', field: `paths.${index}`, type: 'invalid_value', ...fault }];
  });
  const [first] = faults;
  if (first !== undefined) throw new InvalidRequest(first.message, faults.slice(0, FAULTS_TOLD));
  return [...new Set(paths.map(pathOf))];
}

const pathOf = (text: string) => text.replace(/\?.*$/s, '');

/** The most characters of paths in the result of a purge. */
const LONGEST_NAMED = 1_000;

/** The pages of a purge for its result and the activity: their number, and the first of them, separated by spaces. */
export function namedPages(paths: readonly string[]): { path_count: number; paths: string } {
  let named = '';
  for (const path of paths) {
    if (named !== '' && named.length + path.length >= LONGEST_NAMED) break;
    named += named === '' ? path : ` ${path}`;
  }
  return { path_count: paths.length, paths: named };
}
