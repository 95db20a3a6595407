import { join } from 'node:path';
import { PHP_WITHIN_SECONDS } from '../../../lib/php-limits.ts';
import { COMPRESSED_TYPES } from '../../policy/compression.ts';
import {
  PAGE_ACCEPT,
  PAGE_USER_AGENT,
  PASSING_ACCEPT,
  PASSING_HEADERS,
  PASSING_REQUESTED_WITH,
} from '../../policy/page-request-headers.ts';
import { type BodyLimit, bodyLimits } from './body-limits.ts';
import type { EdgeOptions } from './edge-options.ts';
import { variableName } from './forwarded-headers.ts';
import { type PhpRequest, renderPhpParameters, SPLIT_PATH_INFO, VISITORS_REQUEST } from './php-parameters.ts';
import { quoted, quotedPattern } from './quote.ts';
import { renderNotices } from './well-known.ts';

/** Variables that the Lua module `page` sets. */
export const PAGE_VARIABLES = [
  'page_campaign',
  'page_cached',
  'page_key',
  'page_last',
  'page_making',
  'page_token',
  'page_uri',
  'page_variant',
];

/** Memory for keys, about 128,000 of them. */
const KEYS = '16m';
/** A little longer than the last page may be shown while PHP fails. */
const FORGOTTEN_AFTER = '70m';
const MOST_ON_DISK = '4g';
const LEAST_FREE = '512m';
/** Every page is compressed once, so compression may take longer than that of answers which are not cached. */
const PAGE_COMPRESSION = 5;
/** Longer than {@link renderPhpParameters} lets PHP take. */
const PAGE_WITHIN = '130s';

/** How long others wait for a maker that never finishes because its worker was killed. Lua waits as long (`MAKING_FOR`). */
const MADE_WITHIN = '30s';

/** Headers from the visitors' server to the inner ones. No header of a visitor goes there. */
const HOP_HEADERS = {
  'X-Edge-Page': '$page_key',
  'X-Edge-Install': '$install',
  'X-Edge-Last': '$page_last',
  'X-Edge-Php': '$php',
  'X-Edge-Root': VISITORS_REQUEST.root,
  'X-Edge-Script': VISITORS_REQUEST.script,
  'X-Edge-Path-Info': VISITORS_REQUEST.pathInfo,
  'X-Edge-Document-Uri': VISITORS_REQUEST.documentUri,
  'X-Edge-Host': VISITORS_REQUEST.host,
  'X-Edge-Scheme': VISITORS_REQUEST.scheme,
  'X-Edge-Https': VISITORS_REQUEST.https,
  'X-Edge-Protocol': VISITORS_REQUEST.protocol,
  'X-Edge-Address': VISITORS_REQUEST.address,
  'X-Edge-Port': VISITORS_REQUEST.port,
  'X-Edge-Server-Address': VISITORS_REQUEST.serverAddress,
  'X-Edge-Server-Port': VISITORS_REQUEST.serverPort,
};

type HopHeader = keyof typeof HOP_HEADERS;

const sent = (header: HopHeader) => `$${variableName(header)}`;

/** The visitor's request, as the inner server sees it. */
const HOPPED_REQUEST: PhpRequest = {
  root: sent('X-Edge-Root'),
  script: sent('X-Edge-Script'),
  pathInfo: sent('X-Edge-Path-Info'),
  documentUri: sent('X-Edge-Document-Uri'),
  host: sent('X-Edge-Host'),
  scheme: sent('X-Edge-Scheme'),
  https: sent('X-Edge-Https'),
  protocol: sent('X-Edge-Protocol'),
  address: sent('X-Edge-Address'),
  port: sent('X-Edge-Port'),
  serverAddress: sent('X-Edge-Server-Address'),
  serverPort: sent('X-Edge-Server-Port'),
};

/** Headers of answers that do not direct nginx: Lua has decided about keeping, and pages have no other variants. */
const IGNORED_ANSWERS = 'X-Accel-Expires X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset Expires Vary';

/** Headers of the inner servers' answers that visitors do not see. */
const INNER_ANSWERS = ['X-Page-Cache-Control', 'X-Page-Until', 'X-Page-Stale'];

/** The page cache and its two inner servers, for the level of `http`. */
export function renderPageHttp(options: EdgeOptions): string {
  const { run, layout, sizes } = options;
  const passing = PASSING_HEADERS.map((name) => `$${variableName(name)}`).join('');
  return `proxy_cache_path ${quoted(join(layout.caches, 'pages'))} levels=1:2 keys_zone=homeport_pages:${KEYS} inactive=${FORGOTTEN_AFTER} max_size=${MOST_ON_DISK} min_free=${LEAST_FREE} use_temp_path=off;
lua_shared_dict edge_pages ${sizes.pages};
lua_shared_dict edge_purges ${sizes.purges};
map $request_method $page_method {
    default 1;
    GET "";
    HEAD "";
}
map "$http_content_length$http_transfer_encoding" $page_body {
    default 1;
    "" "";
    0 "";
}
map $http_accept $passing_accept {
    default "";
    ~*${PASSING_ACCEPT} 1;
}
map $http_x_requested_with $passing_requested_with {
    default "";
    ${PASSING_REQUESTED_WITH} 1;
}
map "$page_method$page_body$personal_cookie$passing_accept$passing_requested_with${passing}" $page_bypass {
    default 1;
    "" "";
}
map $page_variant $page_from {
    default homeport_primary;
    gzip homeport_inner;
}
${renderUpstream('homeport_inner', run.innerSocket)}
${renderUpstream('homeport_primary', run.primarySocket)}
upstream homeport_late {
    server 0.0.0.1;
    balancer_by_lua_block { require("held").balance() }
}
${renderPrimaryServer(options)}
${renderInnerServer(options)}`;
}

function renderUpstream(name: string, socket: string): string {
  return `upstream ${name} {
    server ${quoted(`unix:${socket}`)};
    keepalive 32;
    keepalive_requests 10000;
}`;
}

/**
 * The locations that lead to PHP. A request leaves for `@php` if the cache cannot answer it. `if` and not `try_files` looks for the
 * script, because `try_files` runs after Lua has chosen.
 */
export function renderPageLocations({ uploadMb }: Pick<EdgeOptions, 'uploadMb'>): string {
  return `location ~ ${quotedPattern('\\.php(?:/|$)')} {
    ${SPLIT_PATH_INFO}
    if (!-f $document_root$fastcgi_script_name) {
        return 404;
    }
    access_by_lua_block { require("page").access() }
    ${renderCached('$request_uri')}
}
location = /index.php {
    access_by_lua_block { require("page").access() }
    ${renderCached('$request_uri')}
}
location @page_campaign {
    header_filter_by_lua_block { require("page").header_filter() }
    ${renderCached()}
}
location @page_kept {
    header_filter_by_lua_block { require("page").header_filter() }
    gunzip on;
    proxy_cache_use_stale error timeout invalid_header http_500 http_502 http_503 http_504;
    ${renderCached()}
}
${bodyLimits(uploadMb).map(renderPhp).join('\n')}`;
}

function renderPhp({ location, megabytes }: BodyLimit): string {
  return `location ${location} {
    ${SPLIT_PATH_INFO}
    add_header X-Cache BYPASS always;
    header_filter_by_lua_block { require("answer-status").header_filter() }
    access_by_lua_block {
        require("php-workers").asked(require("held").access())
    }
    # Counts for bodies without a length, which Lua cannot refuse.
    client_max_body_size ${megabytes}m;
    ${renderPhpParameters(VISITORS_REQUEST, PHP_WITHIN_SECONDS)}
    fastcgi_pass $php;
}`;
}

/**
 * A page from the cache, or from an inner server, which gets the address in the variable `uri`. The inner server's `Cache-Control` is for the cache; visitors get
 * PHP's, except for one that is public at a protected website. A part of a
 * page is never sent, because the whole may be another by the next part.
 */
function renderCached(uri = '$page_uri'): string {
  return `${SPLIT_PATH_INFO}
    gzip off;
    gzip_vary off;
    max_ranges 0;
    proxy_pass http://$page_from${uri};
    proxy_redirect off;
    proxy_pass_request_headers off;
${Object.entries(HOP_HEADERS)
  .map(([name, value]) => `    proxy_set_header ${name} ${value};`)
  .join('\n')}
    proxy_set_header Accept-Encoding $page_variant;
    ${renderHop()}
    proxy_cache_key $page_cached;
    proxy_cache_background_update on;
    proxy_ignore_headers ${IGNORED_ANSWERS};
    proxy_hide_header Cache-Control;
${INNER_ANSWERS.map((name) => `    proxy_hide_header ${name};`).join('\n')}
    add_header Cache-Control $page_cache_control always;
    add_header Vary Accept-Encoding always;
    add_header X-Cache $cache_state always;`;
}

/** Room for the headers that nginx accepts from PHP (32k), and for what the inner servers and the cache add. */
const HOP_HEADERS_SIZE = '36k';

/** Directives for both hops to an inner server. Lua decides who waits; nginx's lock is for evicted pages. */
function renderHop(): string {
  return `proxy_set_header Host $host;
    proxy_set_header Connection "";
    proxy_set_header Content-Length "";
    proxy_set_header Transfer-Encoding "";
    proxy_set_header Upgrade "";
    proxy_pass_request_body off;
    proxy_connect_timeout 5s;
    proxy_read_timeout ${PAGE_WITHIN};
    proxy_buffer_size ${HOP_HEADERS_SIZE};
    proxy_buffers 16 16k;
    proxy_cache homeport_pages;
    proxy_cache_lock on;
    proxy_cache_lock_timeout 5s;
    proxy_cache_lock_age ${MADE_WITHIN};`;
}

/** Makes the brotli and the plain variant from the cached page, which is compressed with gzip. */
function renderPrimaryServer({ run, brotli }: EdgeOptions): string {
  return `server {
    listen ${quoted(`unix:${run.primarySocket}`)} backlog=4096;
    server_name _;
    ${HOP_LIMITS}
    gzip off;
    gzip_vary off;
    gunzip on;
    ${brotli ? `brotli on;\n    brotli_comp_level ${PAGE_COMPRESSION};\n    brotli_types ${COMPRESSED_TYPES.join(' ')};` : ''}
    header_filter_by_lua_block { require("primary").header_filter() }
    log_by_lua_block { require("primary").log() }
    location / {
        proxy_pass http://homeport_inner$request_uri;
        proxy_redirect off;
        proxy_set_header Accept-Encoding gzip;
        ${renderHop()}
        proxy_cache_key ${sent('X-Edge-Page')};
        proxy_ignore_headers ${IGNORED_ANSWERS};
        proxy_pass_header X-Accel-Buffering;
    }
}`;
}

/** Asks PHP and compresses its answer, and decides whether the page is kept. */
function renderInnerServer({ run, notices }: EdgeOptions): string {
  return `server {
    listen ${quoted(`unix:${run.innerSocket}`)} backlog=4096;
    server_name _;
    ${HOP_LIMITS}
    gzip_vary off;
    gzip_comp_level ${PAGE_COMPRESSION};
    header_filter_by_lua_block { require("inner").header_filter() }
    body_filter_by_lua_block { return require("inner").body_filter() }
    log_by_lua_block { require("inner").log() }
    ${renderNotices(notices)}
    location / {
        if (${sent('X-Edge-Last')}) {
            return 503;
        }
        access_by_lua_block { require("php-workers").asked(ngx.var.http_x_edge_php) }
        ${renderPhpParameters(HOPPED_REQUEST)}
        fastcgi_pass_request_headers off;
        fastcgi_param HTTP_USER_AGENT ${quoted(PAGE_USER_AGENT)};
        fastcgi_param HTTP_ACCEPT ${quoted(PAGE_ACCEPT)};
        fastcgi_pass_header X-Accel-Expires;
        fastcgi_pass_header X-Accel-Buffering;
        fastcgi_pass ${sent('X-Edge-Php')};
    }
}`;
}

/** The request line is as long as a visitor's, and the headers repeat parts of it. */
const HOP_LIMITS = 'large_client_header_buffers 8 16k;';
