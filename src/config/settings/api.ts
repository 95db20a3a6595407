import { list, optional, setting } from './setting.ts';
import { addressRanges, anyText, baseUrl, credential, listenAddress, wholeNumber } from './setting-values.ts';

/** Two years, the value that browsers' preload lists recommend (hstspreload.org). */
const MOST_HSTS_SECONDS = 63_072_000;
const requests = wholeNumber(0, 1_000_000_000);

/** Addresses, certificate and rate limits of the API and the portal. */
export const API_SETTINGS = {
  listen: setting('HOMEPORT_LISTEN', '127.0.0.1:8443', 'API and documents, HTTPS', listenAddress),
  publicUrl: setting(
    'HOMEPORT_PUBLIC_URL',
    'https://localhost:8443',
    'base of `next`, `previous` and links in emails; the default uses the port of `HOMEPORT_LISTEN`. Passkeys belong to its host name',
    baseUrl,
  ),
  tlsCert: optional(
    'HOMEPORT_TLS_CERT',
    'created at first start',
    'PEM file: certificate chain of the API',
    anyText,
  ),
  tlsKey: optional('HOMEPORT_TLS_KEY', 'created at first start', 'PEM file: its private key', anyText),
  hstsSeconds: setting(
    'HOMEPORT_HSTS_SECONDS',
    '0',
    'seconds that browsers use only HTTPS for this host name, on every port (HSTS); 0: no HSTS header. Requires a certificate that browsers trust, otherwise they block the portal',
    wholeNumber(0, MOST_HSTS_SECONDS),
  ),
  trustProxy: list(
    'HOMEPORT_TRUST_PROXY',
    'addresses or ranges of proxies, comma-separated. The API accepts plain HTTP and `X-Forwarded-*` from them; nginx on a Linux host accepts the visitor’s address in `X-Forwarded-For`. The limit of connections per address does not apply to them',
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
    'requests per minute of a credential, and of a user in the portal; 0 switches off the general limits',
    requests,
  ),
  anonymousRateLimit: setting(
    'HOMEPORT_ANONYMOUS_RATE_LIMIT',
    '300',
    'requests per minute of an address without valid credentials; 0: no limit',
    requests,
  ),
  authFailureLimit: setting(
    'HOMEPORT_AUTH_FAILURE_LIMIT',
    '100',
    'failed authentications per minute of an address, and of a username; 0: no limit, also none per minute on signing in to the portal',
    requests,
  ),
};
