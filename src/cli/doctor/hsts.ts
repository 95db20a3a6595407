import { showsOwnCertificate } from '../../api/api-certificate.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'HSTS';

/** Warns about HSTS with an untrusted certificate: browsers then offer no way past the warning. */
export function checkHsts(
  config: Pick<Config, 'hstsSeconds' | 'tlsCert' | 'trustProxy' | 'publicUrl'>,
): Finding[] {
  if (config.hstsSeconds === 0) return [];
  return [
    showsOwnCertificate(config)
      ? warning(
          CHECK,
          'HOMEPORT_HSTS_SECONDS is set, and the certificate is self-signed, so browsers offer no way past their warning.',
          'Set HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY, or put a proxy in front (HOMEPORT_TRUST_PROXY), or remove HOMEPORT_HSTS_SECONDS.',
        )
      : ok(CHECK, `Browsers use HTTPS for ${config.hstsSeconds} seconds.`),
  ];
}
