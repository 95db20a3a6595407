import { showsOwnCertificate } from '../../api/api-certificate.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'HSTS';

/** Whether browsers may be told to keep to HTTPS: after that they let nobody past a certificate that they do not trust. */
export function checkHsts(
  config: Pick<Config, 'hstsSeconds' | 'tlsCert' | 'trustProxy' | 'publicUrl'>,
): Finding[] {
  if (config.hstsSeconds === 0) return [];
  return [
    showsOwnCertificate(config)
      ? warning(
          CHECK,
          'HOMEPORT_HSTS_SECONDS is set, and the certificate is self-signed: browsers that have once trusted it let nobody in without it.',
          'Set HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY, or put a proxy in front (HOMEPORT_TRUST_PROXY), or take HOMEPORT_HSTS_SECONDS out.',
        )
      : ok(CHECK, `Browsers keep to HTTPS for ${config.hstsSeconds} seconds.`),
  ];
}
