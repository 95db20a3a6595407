import { remembered } from '../../../lib/remembered.ts';

/** The target of a request line (RFC 9112 section 3.2), as sent. */
export interface RequestTarget {
  /** Begins with `/`; percent-encoded as sent. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
  /** The authority of a target in absolute form. It takes precedence over the Host header (RFC 9112 section 3.2.2). */
  readonly authority: string | null;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
/** Visible ASCII except `#` (fragments are never sent) and `\` (browsers treat it as `/`). */
const SENDABLE = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/;

/** Splits a request target. Returns null if no browser would send it for a resource. */
export const parseTarget = remembered((text): RequestTarget | null => {
  const absolute = ABSOLUTE.exec(text);
  const rest = absolute === null ? text : text.slice(absolute[0].length);
  const origin = absolute !== null && !rest.startsWith('/') ? `/${rest}` : rest;
  if (!SENDABLE.test(origin)) return null;
  const mark = origin.indexOf('?');
  return {
    path: mark === -1 ? origin : origin.slice(0, mark),
    query: mark === -1 ? '' : origin.slice(mark),
    authority: absolute?.[1] ?? null,
  };
});

/**
 * A path inside a website: decoded, without empty, `.` and `..` segments. Safe to join to a document
 * root, to compare with prefixes and to use as a key.
 */
export interface SitePath {
  /** Joined with `/`, without a leading or trailing one: `wp-content/logo.png`; empty for the root. */
  readonly relative: string;
  /** The path ended in `/` (the root does), so it can only be a folder. */
  readonly folder: boolean;
}

/** Control characters, and the path separator of other systems. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const FORBIDDEN = /[\x00-\x1f\x7f\\]/;

/**
 * Decodes the path of a {@link RequestTarget}. Empty segments are skipped, as nginx does. Returns null
 * for bad percent-encoding, control characters, backslashes, and `.` and `..` in any encoding.
 */
export const parseSitePath = remembered((path): SitePath | null => {
  let decoded = path;
  if (path.includes('%')) {
    try {
      decoded = decodeURIComponent(path);
    } catch {
      return null;
    }
  }
  if (FORBIDDEN.test(decoded)) return null;
  const segments = decoded.split('/').filter((segment) => segment !== '');
  if (segments.includes('.') || segments.includes('..')) return null;
  return { relative: segments.join('/'), folder: decoded.endsWith('/') };
});

/** The path decoded and normalised, with its slashes at the ends: `/a/b`, or `/a/b/` for a folder. */
export function uriOf({ relative, folder }: SitePath): string {
  return folder && relative !== '' ? `/${relative}/` : `/${relative}`;
}

/** The path as a link: `/`, the segments percent-encoded, and a `/` at the end. Never begins with `//`. */
export function folderLink(path: SitePath): string {
  const encoded = path.relative.split('/').map(encodeURIComponent).join('/');
  return encoded === '' ? '/' : `/${encoded}/`;
}

/**
 * Whether a path is hidden from visitors (`relative` as in {@link SitePath}): a name begins with a dot, except `.well-known` at the top
 * (RFC 8615).
 */
export function isHidden(relative: string): boolean {
  return relative
    .split('/')
    .some((segment, index) => segment.startsWith('.') && !(index === 0 && segment === '.well-known'));
}
