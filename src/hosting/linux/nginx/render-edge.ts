import { hash } from 'node:crypto';
import { MARKER_PREFIX } from '../../policy/marker.ts';
import type { EdgeOptions } from './edge-options.ts';
import {
  FORWARDING_VARIABLES,
  renderForwardingHttp,
  renderForwardingListener,
  renderForwardLocation,
} from './forwarded-requests.ts';
import { quoted } from './quote.ts';
import { renderClients } from './render-clients.ts';
import { listenValue, type RenderedMain, renderHttp, renderProcess } from './render-main.ts';
import { renderMaps } from './render-maps.ts';
import { renderStorageServer } from './render-offload.ts';
import { PAGE_VARIABLES, renderPageHttp, renderPageLocations } from './render-pages.ts';
import { ROUTE_VARIABLES, renderRouteHttp, renderRoutes } from './render-routes.ts';
import { generationPath, generationText, renderStatusServer } from './status-server.ts';
import { noticeUri, renderText } from './well-known.ts';

const MODULES = '/usr/lib/nginx/modules';
const GENERATION_PLACE = '# generation';

/** The configuration of the edge. It names no website: Lua finds the row of each request's host name. */
export function renderEdge(options: EdgeOptions): RenderedMain {
  const { run, instance } = options;
  const draft = `${renderModules(options)}
${renderProcess(options)}
http {
${renderHttp(options)}
${renderLua(options)}
${renderClients(options.trustedProxies)}
${renderMaps(options)}
${renderRouteHttp()}
${renderPageHttp(options)}
${renderStorageServer(options.storage)}
${renderStatusServer(run.statusSocket, instance, GENERATION_PLACE)}
${renderControlServer(run.controlSocket)}
${renderForwardingHttp(options)}
${renderServers(options)}
}
`;
  const generation = hash('sha256', draft, 'hex');
  const marker = renderText(generationPath(generation), generationText(generation));
  return { generation, text: draft.replace(GENERATION_PLACE, marker) };
}

/** Debian's own list of modules is not used, so that no other module changes the edge. */
function renderModules({ brotli }: EdgeOptions): string {
  const names = [
    'ndk_http_module',
    'ngx_http_lua_module',
    ...(brotli ? ['ngx_http_brotli_filter_module'] : []),
  ];
  return names.map((name) => `load_module ${quoted(`${MODULES}/${name}.so`)};`).join('\n');
}

/** Steps of comparing a path with a pattern of a redirect, after which it counts as another path. */
const MOST_STEPS = 20_000;
/** Patterns that each worker keeps compiled. */
const MOST_PATTERNS = 4_096;

/**
 * The main process loads each module once, and the workers inherit them. The garbage collector runs early, because parsed
 * certificates hold memory that Lua does not count.
 */
function renderLua({ lua, sizes }: EdgeOptions): string {
  return `lua_package_path ${quoted(`${lua.folder}/?.lua;;`)};
lua_regex_match_limit ${MOST_STEPS};
lua_regex_cache_max_entries ${MOST_PATTERNS};
lua_shared_dict edge_state ${sizes.state};
lua_shared_dict edge_keys ${sizes.keys};
init_by_lua_block {
    collectgarbage("setpause", 120)
    require "resty.core"
${lua.modules.map((name) => `    require "${name}"`).join('\n')}
    require("certificates").init()
}
init_worker_by_lua_block {
    require("rows").init_worker()
    require("routes").init_worker()
    require("certificates").init_worker()
    require("usage-log").init_worker()
}
uninitialized_variable_warn off;`;
}

/** Longest body of a change: the longest chain that users upload, with its key. It must stay in memory, because of the key. */
const MOST_CONTROL_BYTES = '256k';

function renderControlServer(socket: string): string {
  return `server {
    listen ${quoted(`unix:${socket}`)};
    server_name _;
    client_max_body_size ${MOST_CONTROL_BYTES};
    client_body_buffer_size ${MOST_CONTROL_BYTES};
    # Replaces the notices for visitors.
    error_page 599 /;
    location / {
        default_type text/plain;
        content_by_lua_block { require("control").answer() }
    }
}`;
}

/** Variables that Lua sets for a request. */
const VARIABLES = [
  ...['install', 'site_root', 'site_home', 'php'],
  ...ROUTE_VARIABLES,
  ...PAGE_VARIABLES,
  ...FORWARDING_VARIABLES,
];

/** The server for visitors, and the one for the edges of other hosts. */
function renderServers(options: EdgeOptions): string {
  const { edgeHttp, edgeHttps, ownCertificate, ownFingerprint, forwarding } = options;
  const visitors = `listen ${listenValue(edgeHttp, 'default_server backlog=4096')};
    listen ${listenValue(edgeHttps, 'ssl http2 default_server backlog=4096')};
    # ${ownFingerprint}
    ssl_certificate ${quoted(ownCertificate)};
    ssl_certificate_key ${quoted(ownCertificate)};
    ssl_certificate_by_lua_block { require("certificates").show() }`;
  const servers = [renderServer(options, visitors)];
  if (forwarding !== null) servers.push(renderServer(options, renderForwardingListener(forwarding)));
  return servers.join('\n');
}

/** Everything for the visitors of websites. It declares the variables in a location that never runs: elsewhere they would be set again. */
function renderServer(options: EdgeOptions, listener: string): string {
  return `server {
    ${listener}
    server_name _;
    server_rewrite_by_lua_block { require("route").run() }
    log_by_lua_block { require("finish").run() }
    root $site_root;
    disable_symlinks if_not_owner from=$site_home;
    location = ${MARKER_PREFIX}variables {
        internal;
${VARIABLES.map((name) => `        set $${name} "";`).join('\n')}
        return 404;
    }
    location = ${MARKER_PREFIX}no-website {
        internal;
        error_page 404 ${noticeUri('no-website')};
        return 404;
    }
    location = ${MARKER_PREFIX}closed {
        internal;
        error_page 503 ${noticeUri('closed')};
        return 503;
    }
${renderForwardLocation(options)}
    location = ${MARKER_PREFIX}held {
        internal;
        error_page 503 ${noticeUri('held')};
        return 503;
    }
${renderRoutes(options, renderPageLocations(options))}
}`;
}
