import { list, optional, setting } from './setting.ts';
import { addressRanges, anyText, baseUrl, credential, listenAddress, wholeNumber } from './setting-values.ts';

/** Two years, what lists of browsers ask for (hstspreload.org). */
const MOST_HSTS_SECONDS = 63_072_000;
const requests = wholeNumber(0, 1_000_000_000);

/** The API and the portal: where they are, and whom they let in how often. */
export const API_SETTINGS = {
  listen: setting('HOMEPORT_LISTEN', '127.0.0.1:8443', 'API and documents, HTTPS', listenAddress),
  publicUrl: setting(
    'HOMEPORT_PUBLIC_URL',
    'https://localhost:8443',
    'what `next`, `previous` and links in mails are built on; its port follows `HOMEPORT_LISTEN`',
    baseUrl,
  ),
  tlsCert: optional(
    'HOMEPORT_TLS_CERT',
    'made at first start',
    'PEM file: certificate chain of the API',
    anyText,
  ),
  tlsKey: optional('HOMEPORT_TLS_KEY', 'made at first start', 'PEM file: its private key', anyText),
  hstsSeconds: setting(
    'HOMEPORT_HSTS_SECONDS',
    '0',
    'for so long browsers keep to HTTPS with this host name, on every port (HSTS); only with a certificate that they trust, or they let nobody past it. 0: they are not told',
    wholeNumber(0, MOST_HSTS_SECONDS),
  ),
  trustProxy: list(
    'HOMEPORT_TRUST_PROXY',
    'addresses or ranges of proxies, comma-separated. The API takes plain HTTP and `X-Forwarded-*` from them, nginx on a Linux host the visitor of `X-Forwarded-For`; no limit of connections for each address applies to them',
    addressRanges,
  ),
  initialCredential: optional(
    'HOMEPORT_INITIAL_CREDENTIAL',
    'random',
    '`username:password` (a lower-case UUID and at least 16 characters) of the first owner, for scripted set-ups',
    credential,
  ),
  rateLimit: setting(
    'HOMEPORT_RATE_LIMIT',
    '3000',
    'requests a minute for one credential, and for one person in the portal; 0 switches the general limits off',
    requests,
  ),
  anonymousRateLimit: setting(
    'HOMEPORT_ANONYMOUS_RATE_LIMIT',
    '300',
    'requests a minute for one address without valid credentials; 0: no limit',
    requests,
  ),
  authFailureLimit: setting(
    'HOMEPORT_AUTH_FAILURE_LIMIT',
    '100',
    'failed authentications a minute for one address, and for one username; 0: no limit, nor those by the minute on signing in to the portal',
    requests,
  ),
};
