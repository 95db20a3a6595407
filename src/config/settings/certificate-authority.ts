import { optional, setting } from './setting.ts';
import { mailAddress, path, trueOrFalse, url } from './setting-values.ts';

/** Who issues the certificates of the domains. */
export const CERTIFICATE_AUTHORITY_SETTINGS = {
  acmeDirectory: optional(
    'HOMEPORT_ACME_DIRECTORY',
    'none: self-signed certificates',
    'directory of the certificate authority (ACME), like `https://acme-v02.api.letsencrypt.org/directory`; to set it is to agree to its terms',
    url(['https:']),
  ),
  acmeContact: optional(
    'HOMEPORT_ACME_CONTACT',
    'none',
    'mail address that the authority is told, and that is warned of certificates about to expire',
    mailAddress,
  ),
  acmeCa: optional(
    'HOMEPORT_ACME_CA',
    'none',
    'PEM file of roots to trust besides the well-known ones: for the authority’s own HTTPS, and for what it issues',
    path,
  ),
  acmeTermsAgreed: setting(
    'HOMEPORT_ACME_TERMS_AGREED',
    'true',
    '`false`: no account is made, and nothing issued, until the terms of the authority are agreed to',
    trueOrFalse,
  ),
};
