/** Headers of a request that an edge forwards to the edge of another host: what the visitor's connection was. */
export const EDGE_HEADERS = {
  /** Address and port. */
  visitor: 'X-Homeport-Visitor',
  scheme: 'X-Homeport-Scheme',
  protocol: 'X-Homeport-Protocol',
  serverAddress: 'X-Homeport-Server-Address',
  serverPort: 'X-Homeport-Server-Port',
  /** Ids of the hosts that forwarded it before the last one. */
  passed: 'X-Homeport-Passed',
} as const;

/**
 * Request headers that name another host, scheme, path or visitor than the edge sees. The cache key contains none of them, so one
 * visitor's headers could change the page that the next visitor sees. Edges also drop headers with underscores, which PHP could not
 * tell from these.
 */
export const FORWARDED_HEADERS: readonly string[] = [
  ...Object.values(EDGE_HEADERS),
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

/** Headers that override the method that the edge and the cache see. WordPress's editor sends the first of them with POST. */
export const METHOD_OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];
