import { isPagePath } from '../../../hosting/contract/page-path.ts';
import { encodedPath } from '../../../hosting/policy/path-redirects.ts';

/** The fault of a path in a rule, with or without percent-encoding; undefined if an edge can compare it with paths of requests. */
export function faultOfRulePath(text: string): { code: string; message: string } | undefined {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(text)) {
    return invalid('Give the path without its host name: /news/ for https://www.example.com/news/');
  }
  if (!text.startsWith('/')) return invalid('A path must begin with /');
  if (/[?#]/.test(text)) return invalid('Rules compare paths only: leave out the part from ? or # on');
  if (text.includes('*')) return invalid('A path has no wildcards: choose the match prefix or regex instead');
  if (/\s/.test(text)) return invalid('A path must have no white space: write %20 for a space');
  const path = decodedPath(text);
  if (path === null) return invalid('A percent sign must be followed by two digits, such as %20 for a space');
  if (path.includes('//')) return invalid('A path must have no empty segments: //');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (!isPagePath(path.replaceAll(/[?#]/g, '')) || /[\x00-\x1f\x7f\\]/.test(path)) {
    return invalid('A path must have no control characters, no \\ and no segments . and ..');
  }
}

const invalid = (message: string) => ({ code: 'invalid_format', message });

/** The path as edges compare it: decoded. Null if the text is not encoded properly. */
export function decodedPath(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A decoded path as a request may write it. */
export function encodedRulePath(path: string): string {
  return encodedPath(path).replaceAll('*', '%2A');
}
