import { optional } from './setting.ts';
import { anyText, url } from './setting-values.ts';

const parse = url(['http:', 'https:']);

/** The proxy for outbound requests, by the names that other programs use. In lower case, they count in the environment too. */
export const PROXY_SETTINGS = {
  httpsProxy: optional(
    'HTTPS_PROXY',
    'none',
    'proxy for HTTPS requests: downloads, certificate authority, webhooks, S3 and CDN. Checks of domains and mail never use one',
    parse,
  ),
  httpProxy: optional('HTTP_PROXY', 'none', 'the same for HTTP requests', parse),
  noProxy: optional(
    'NO_PROXY',
    'this machine alone',
    'hosts without the proxy, comma-separated: `s3.internal`, `.example.com` with all names below, `10.0.0.5`, `*`',
    anyText,
  ),
};
