import { ACME_CHALLENGE_PREFIX, DOMAIN_CHECK_PREFIX } from '../../contract/proofs.ts';
import { MARKER_PREFIX } from '../../policy/marker.ts';
import { literally, quoted, quotedPattern } from './quote.ts';

/** URI of a notice of {@link NGINX_NOTICES}, for `error_page`. */
export function noticeUri(name: string): string {
  return `${MARKER_PREFIX}${name}.html`;
}

/** Notices by error status. nginx inherits them only at levels without their own `error_page`. */
export const NOTICE_PAGES = `error_page 401 ${noticeUri('protected')};
error_page 403 ${noticeUri('forbidden')};
error_page 404 ${noticeUri('not-found')};
error_page 413 ${noticeUri('too-large')};
error_page 429 ${noticeUri('too-many')};
error_page 500 ${noticeUri('failed')};
error_page 502 ${noticeUri('unavailable')};
error_page 503 ${noticeUri('busy')};
error_page 504 ${noticeUri('slow')};`;

/** A location with one fixed line as its answer, for programs. */
export function renderText(path: string, text: string): string {
  return `location = ${path} {
    access_log off;
    default_type text/plain;
    add_header Cache-Control no-store;
    return 200 "${text.trimEnd()}\\n";
}`;
}

export interface WellKnownOptions {
  /** Folder of proofs: `<host name>/<path>`. */
  proofs: string;
  /** Folder of notices. */
  notices: string;
  /** Where else to look for an answer to an ACME challenge: arguments of `try_files`, with absolute paths. */
  unproved: string;
}

/**
 * Answers of the web server itself on each name, before any redirect. nginx gives `$host` in lower case, without port, final
 * dot or `/`. Notices are for internal redirects; a direct request for one gets 404.
 */
export function renderWellKnown({ proofs, notices, unproved }: WellKnownOptions): string {
  const published = quoted(proofs).replace(/"$/, '/$host$uri"');
  const proof = `access_log off;
    root /;
    types { }
    default_type "text/plain; charset=utf-8";
    expires off;
    add_header Cache-Control no-store;
    add_header X-Content-Type-Options nosniff;`;
  const token = `^${literally(ACME_CHALLENGE_PREFIX)}[A-Za-z0-9_-]+$`;
  return `location ~ ${quotedPattern(token)} {
    ${proof}
    try_files ${published} ${unproved};
}
location ^~ ${DOMAIN_CHECK_PREFIX} {
    ${proof}
    try_files ${published} =404;
}
${renderNotices(notices)}`;
}

/** The location of notices, for `error_page`. */
export function renderNotices(notices: string): string {
  return `location ^~ ${MARKER_PREFIX} {
    internal;
    alias ${quoted(`${notices}/`)};
    disable_symlinks off;
    add_header Cache-Control no-store always;
    add_header Retry-After $retry_after always;
    add_header Content-Security-Policy "default-src 'none'; style-src 'unsafe-inline'" always;
    add_header X-Content-Type-Options nosniff always;
}`;
}
