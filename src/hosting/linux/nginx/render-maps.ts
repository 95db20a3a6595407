import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { PERSONAL_COOKIES } from '../../policy/personal-cookies.ts';
import { renderMethodMaps } from './forwarded-headers.ts';
import { renderVisitorMaps } from './forwarded-requests.ts';
import { renderLogMaps } from './usage-lines.ts';

/** Seconds until a visitor may try again if too many requests run at the moment. */
const BUSY_SECONDS = 5;

/**
 * Variables derived from a request.
 *
 * If the request names a port, redirects and WordPress name it too. Otherwise the visitor used the default port, perhaps through
 * port forwarding, and must not see the ports that nginx listens on. The authority of a target in absolute form overrides the
 * Host header (RFC 9112 section 3.2.2).
 */
export function renderMaps({ edgeHttps }: { edgeHttps: ListenAddress }): string {
  const httpsPort = edgeHttps.port === 443 ? '""' : `":${edgeHttps.port}"`;
  return `${renderVisitorMaps()}
map $request $authority {
    default $http_host;
    "~*^\\S+ https?://(?<target_authority>[^/?#\\s]*)" $target_authority;
}
map "$visitor_scheme $authority" $port_suffix {
    default "";
    "~^http [^:]*:80$" "";
    "~^https [^:]*:443$" "";
    "~(?<named_port>:\\d{1,5})$" $named_port;
}
map $authority $https_port_suffix {
    default "";
    "~:\\d{1,5}$" ${httpsPort};
}
map $request_uri $unsendable {
    default 1;
    "~^/[\\x21\\x22\\x24-\\x5b\\x5d-\\x7e]*$" 0;
}
${renderLogMaps()}
map $request_method $php_method {
    default $request_method;
    HEAD GET;
}
${renderMethodMaps()}
map $http_cookie $personal_cookie {
    default "";
    "~(?:^|;)\\s*+(?:${PERSONAL_COOKIES.exact}|(?i:${PERSONAL_COOKIES.loose}))" 1;
}
map $sent_http_cache_control $file_expires {
    default off;
    "" 7d;
}
map "$sent_http_cache_control:$upstream_http_x_page_cache_control" $page_cache_control {
    default $upstream_http_x_page_cache_control;
    "~*^private:.*(?:public|s-maxage)" "";
}
map $retry $next_try {
    default $retry;
    "" ${BUSY_SECONDS};
}
map $status $retry_after {
    default "";
    429 $next_try;
    503 ${BUSY_SECONDS};
}
map $upstream_cache_status $cache_state {
    default $upstream_cache_status;
    "" BYPASS;
    EXPIRED MISS;
    REVALIDATED HIT;
    UPDATING STALE;
}`;
}
