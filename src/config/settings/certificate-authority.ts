import { optional, setting } from './setting.ts';
import { mailAddress, path, trueOrFalse, url } from './setting-values.ts';

/** The certificate authority for the domains. */
export const CERTIFICATE_AUTHORITY_SETTINGS = {
  acmeDirectory: optional(
    'HOMEPORT_ACME_DIRECTORY',
    'none: self-signed certificates',
    'directory of the certificate authority (ACME), like `https://acme-v02.api.letsencrypt.org/directory`; by setting it, you agree to its terms',
    url(['https:']),
  ),
  acmeContact: optional(
    'HOMEPORT_ACME_CONTACT',
    'none',
    'email address for the account at the authority',
    mailAddress,
  ),
  acmeCa: optional(
    'HOMEPORT_ACME_CA',
    'none',
    'PEM file of additional trusted roots, for the authority’s HTTPS server and for its certificates',
    path,
  ),
  acmeTermsAgreed: setting(
    'HOMEPORT_ACME_TERMS_AGREED',
    'true',
    '`false`: no account is created and no certificate issued until you agree to the authority’s terms',
    trueOrFalse,
  ),
};
