import { optional } from './setting.ts';
import { anyText, ConfigError, hiding, url } from './setting-values.ts';

/** The address of a proxy. Other programs take `host:port`, too. */
const parse = hiding('in address', (text, variable) => {
  const address = text.includes('://') ? text : `http://${text}`;
  const href = url(['http:', 'https:'])(address, variable);
  const { username, password } = new URL(href);
  try {
    decodeURIComponent(username + password);
  } catch {
    throw new ConfigError(`${variable} has a % in its user name or password; write %25 in place of it.`);
  }
  return href;
});

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
