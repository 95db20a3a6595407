import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import type { Clock } from '../../lib/clock.ts';
import { writeDurably } from '../../lib/durable-file.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { ifThere } from '../../lib/if-there.ts';

/** The longest validity that browsers accept. */
const DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** A visitor whose clock is slow must not see "not yet valid". */
const BACKDATED_MS = HOUR_MS;

/** The self-signed certificate that an edge presents for names without a certificate, kept in one file with its key. */
export interface DefaultCertificate {
  /** PEM file, certificate and private key, readable by its owner only. */
  file: string;
  /** Returns the current certificate. Makes one if it is missing, unusable, for other names or due for renewal. */
  ensure(): Promise<IssuedDefaultCertificate>;
}

export interface IssuedDefaultCertificate {
  /** Certificate and private key, PEM. */
  pem: string;
  /** SHA-256, as in {@link X509Certificate.fingerprint256}. */
  fingerprint: string;
  /** Time of the next renewal, in milliseconds. */
  renewAt: number;
}

export interface DefaultCertificateOptions {
  file: string;
  /** Host names, wildcards too; at least one. */
  names: string[];
  clock: Clock;
  log: Logger;
}

export function createDefaultCertificate(options: DefaultCertificateOptions): DefaultCertificate {
  const { file, names, clock, log } = options;

  /** Null if the kept certificate cannot be used any longer. */
  async function kept(): Promise<IssuedDefaultCertificate | null> {
    const pem = await ifThere(readFile(file, 'utf8'));
    if (pem === null) return null;
    try {
      const certificate = new X509Certificate(pem);
      const covers = certificate.subjectAltName === names.map((name) => `DNS:${name}`).join(', ');
      if (!covers || !certificate.checkPrivateKey(createPrivateKey(pem))) return null;
      // Throws if TLS cannot use the file, for example because a second certificate in it is broken.
      createSecureContext({ cert: pem, key: pem });
      const issued = issuedFrom(pem, certificate);
      return clock.now().getTime() < issued.renewAt ? issued : null;
    } catch (err) {
      log.warn({ err, file }, 'cannot read the default certificate of the edge; making a new one');
      return null;
    }
  }

  return {
    file,
    async ensure() {
      const present = await kept();
      if (present !== null) return present;
      const notBefore = new Date(clock.now().getTime() - BACKDATED_MS);
      const { chain, key, notAfter } = await createSelfSigned({ names, notBefore, days: DAYS });
      await writeDurably(file, chain + key);
      log.info({ names, notAfter }, 'made a self-signed default certificate for the edge');
      return issuedFrom(chain + key, new X509Certificate(chain));
    },
  };
}

function issuedFrom(pem: string, certificate: X509Certificate): IssuedDefaultCertificate {
  return {
    pem,
    fingerprint: certificate.fingerprint256,
    renewAt: certificate.validToDate.getTime() - RENEW_BEFORE_MS,
  };
}
