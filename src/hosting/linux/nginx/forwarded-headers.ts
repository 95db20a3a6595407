/**
 * Request headers that name another host, scheme, path or visitor than nginx sees. The cache key contains none of them, so one
 * visitor's headers could change the page that the next visitor sees. nginx itself drops headers with underscores, which PHP
 * could not tell from these (`underscores_in_headers off`).
 */
const FORWARDED = [
  'Forwarded',
  'X-Forwarded',
  'X-Forwarded-By',
  'X-Forwarded-Host',
  'X-Forwarded-Path',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-Proto',
  'X-Forwarded-Protocol',
  'X-Forwarded-Scheme',
  'X-Forwarded-Server',
  'X-Forwarded-Ssl',
  'X-Forwarded-Uri',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-Original-Host',
  'X-Original-URI',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Proxy-Host',
  'X-Scheme',
  'X-Url-Scheme',
  'X-Arr-Ssl',
  'Front-End-Https',
  'CloudFront-Forwarded-Proto',
  'CF-Visitor',
  // The visitor's address.
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'CF-Pseudo-IPv4',
  'Client-IP',
  'Fastly-Client-IP',
  'Forwarded-For',
  'Forwarded-For-Ip',
  'True-Client-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Originating-IP',
  'X-ProxyUser-Ip',
  'X-Real-IP',
  'X-Remote-Addr',
  'X-Remote-IP',
  'X-Sucuri-Clientip',
  // PHP's libraries would use it as their proxy (CVE-2016-5385).
  'Proxy',
];

/** Headers that override the method that nginx and the cache see. WordPress's editor sends the first of them with POST. */
const OVERRIDDEN_METHOD = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];

/**
 * FastCGI parameters that replace those headers; they need the maps of {@link renderMethodMaps}. `address`: the variable with the
 * visitor's address.
 */
export function renderForwardedHeaders(address = '$remote_addr'): string {
  return [
    ...FORWARDED.map((name) => `fastcgi_param ${parameterOf(name)} "" if_not_empty;`),
    `fastcgi_param HTTP_X_FORWARDED_FOR ${address};`,
    ...OVERRIDDEN_METHOD.map(
      (name) => `fastcgi_param ${parameterOf(name)} ${keptVariable(name)} if_not_empty;`,
    ),
  ].join('\n');
}

/** Removes method overrides from requests whose answers can be cached. */
export function renderMethodMaps(): string {
  return OVERRIDDEN_METHOD.map(
    (name) => `map $request_method ${keptVariable(name)} {
    default $${variableName(name)};
    GET "";
    HEAD "";
}`,
  ).join('\n');
}

/** The FastCGI parameter of a request header. */
export function parameterOf(header: string): string {
  return `HTTP_${header.toUpperCase().replaceAll('-', '_')}`;
}

/** The variable of a request header, without `$`. */
export function variableName(header: string): string {
  return `http_${header.toLowerCase().replaceAll('-', '_')}`;
}

function keptVariable(header: string): string {
  return `$kept_${variableName(header)}`;
}
