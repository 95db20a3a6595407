import { join } from 'node:path';
import { PHP_WITHIN_SECONDS } from '../../../lib/php-limits.ts';
import { DATABASE_COOKIE, DATABASE_PATH } from '../../contract/database-access.ts';
import { LOGIN_PATH } from '../../contract/wordpress-login.ts';
import { CLOSED_PROGRAMS } from '../../policy/closed-programs.ts';
import { LOGIN_LIMITS } from '../../policy/login-limits.ts';
import { MARKER_PREFIX } from '../../policy/marker.ts';
import { bodyMb } from '../../policy/php-limits.ts';
import { DATABASE_PAGE } from '../database-page/page-file.ts';
import { SANDBOX_ETC } from '../isolation/sandbox.ts';
import { WITHOUT_UNANNOUNCED_BODY } from './body-limits.ts';
import type { EdgeOptions } from './edge-options.ts';
import { renderLookup, renderMissing } from './file-lookup.ts';
import { renderPhpParameters, VISITORS_REQUEST } from './php-parameters.ts';
import { quoted, quotedPattern } from './quote.ts';
import { renderOffload } from './render-offload.ts';
import { LOG_BUFFER, renderLogFormat } from './usage-lines.ts';
import { STATIC_FILES, TO_WORDPRESS } from './website-paths.ts';
import { renderWellKnown } from './well-known.ts';

/** Variables that the Lua module `route` sets. */
export const ROUTE_VARIABLES = [
  /** Scheme, name and port of another address of the website. */
  'redirect_to',
  /** `break`, `permanent`, or empty. */
  'offload',
  'offload_base',
  'offload_fetch_base',
  'login_key',
  'xmlrpc_key',
  'postpass_key',
  /** Seconds for `Retry-After` of a 429. */
  'retry',
  /** Set if the body has no length, and the install accepts larger ones than others. */
  'large_bodies',
  /** Set if the install has cache rules. */
  'page_rules',
];

const LIMITED = Object.entries(LOGIN_LIMITS);

/** Log format, and the limits of all websites. When a zone is full, nginx forgets the oldest keys. */
export function renderRouteHttp(): string {
  return `${renderLogFormat('homeport', '$install')}
lua_shared_dict edge_limits 4m;
${LIMITED.map(([kind, { perMinute }]) => `limit_req_zone $${kind}_key zone=homeport_${kind}:4m rate=${perMinute}r/m;`).join('\n')}
limit_req_status 429;
limit_req_log_level info;
map "$cookie_${DATABASE_COOKIE}$arg_token" $database_visitor {
    default 1;
    "" "";
}`;
}

/**
 * Everything that a website answers, for the server of all websites. Patterns are tried in the order of the text: `pages`, the
 * locations that lead to PHP, come after what is never run and before files.
 */
export function renderRoutes(options: EdgeOptions, pages: string): string {
  const { layout, notices, usageLog } = options;
  return `access_log ${quoted(usageLog)} homeport ${LOG_BUFFER} if=$logged_install;
${LIMITED.map(([kind, { burst }]) => `limit_req zone=homeport_${kind} burst=${burst} nodelay;`).join('\n')}
${renderOffload()}
${renderWellKnown({ proofs: layout.proofs, notices, unproved: '@unproved' })}
${renderUnproved()}
${renderRedirect()}
${renderLogin()}
${renderDatabasePage(options)}
location ~ ${quotedPattern(`(?s)${CLOSED_PROGRAMS}`)} {
    return 404;
}
${pages}
location = / {
    ${renderLookup(1_000)}
    ${renderMissing('-f $document_root/index.html')}
}
location ~* ${quotedPattern(STATIC_FILES)} {
    expires $file_expires;
    add_header X-Content-Type-Options nosniff;
    try_files $uri ${TO_WORDPRESS};
}
location / {
    ${renderLookup(10_000)}
    ${renderMissing('-e $request_filename')}
}
location @present {
    add_header Cache-Control no-cache;
    add_header X-Content-Type-Options nosniff;
    try_files $uri $uri/ ${TO_WORDPRESS};
}`;
}

/** An ACME challenge that the host has not published: a file of the website, or WordPress. */
function renderUnproved(): string {
  return `location @unproved {
    if ($install = "") {
        rewrite ^ ${join(MARKER_PREFIX, 'no-website')} last;
    }
    if ($redirect_to) {
        rewrite ^ ${join(MARKER_PREFIX, 'redirect')} last;
    }
    access_by_lua_block { require("route").unproved() }
    types { }
    default_type "text/plain; charset=utf-8";
    add_header Cache-Control no-store;
    add_header X-Content-Type-Options nosniff;
    try_files $uri ${TO_WORDPRESS};
}`;
}

function renderRedirect(): string {
  return `location = ${join(MARKER_PREFIX, 'redirect')} {
    internal;
    if ($unsendable) {
        return 400;
    }
    add_header Cache-Control no-cache always;
    return 301 $redirect_to$request_uri;
}`;
}

/**
 * A login to WordPress, from PHP and never from the cache. nginx would log errors with the token. A HEAD request, which PHP would
 * get as GET, would use the login up.
 */
function renderLogin(): string {
  return `location = ${LOGIN_PATH} {
    if ($request_method != GET) {
        return 405;
    }
    if ($php = "") {
        return 404;
    }
    ${WITHOUT_UNANNOUNCED_BODY}
    error_log /dev/null emerg;
    ${renderPhpParameters({ ...VISITORS_REQUEST, script: '/wp-load.php' })}
    fastcgi_pass $php;
}`;
}

/**
 * The database of the website, for visitors with a link or the cookie of a session, which the page checks. Its program is outside of
 * the document root, so that no setting or file of the website changes it.
 */
function renderDatabasePage({ uploadMb }: Pick<EdgeOptions, 'uploadMb'>): string {
  return `location = ${DATABASE_PATH} {
    if ($request_method !~ ^(?:GET|POST)$) {
        return 405;
    }
    if ($php = "") {
        return 404;
    }
    if ($database_visitor = "") {
        return 403;
    }
    access_by_lua_block {
        require("body").discard_unannounced(ngx.var)
        require("held").access()
    }
    error_log /dev/null emerg;
    client_max_body_size ${bodyMb(uploadMb.standard)}m;
    ${renderPhpParameters({ ...VISITORS_REQUEST, root: SANDBOX_ETC, script: `/${DATABASE_PAGE}` }, PHP_WITHIN_SECONDS)}
    fastcgi_hide_header Cache-Control;
    fastcgi_hide_header Expires;
    add_header Cache-Control no-store always;
    fastcgi_pass $php;
}`;
}
