import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { createSelfSigned } from '../../policy/self-signed-certificate.ts';

/** The longest that browsers accept. */
const DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of visitors that are a little slow must not find it "not yet valid". */
const BACKDATED_MS = HOUR_MS;

/** What is shown for names without a certificate of their own: self-signed, kept in one file with its key. */
export interface OwnCertificate {
  /** PEM file, certificate and private key, root's alone. */
  file: string;
  /** Makes it where it is missing, unusable, for other names or about to end. Gives the fingerprint of the present one. */
  ensure(): Promise<string>;
}

export interface OwnCertificateOptions {
  file: string;
  /** Host names, wildcards too; at least one. */
  names: string[];
  clock: Clock;
  log: Logger;
}

export function createOwnCertificate({ file, names, clock, log }: OwnCertificateOptions): OwnCertificate {
  /** Null if there is none that can be used for a while. */
  async function kept(): Promise<X509Certificate | null> {
    const pem = await ifThere(readFile(file, 'utf8'));
    if (pem === null) return null;
    try {
      const certificate = new X509Certificate(pem);
      const covers = certificate.subjectAltName === names.map((name) => `DNS:${name}`).join(', ');
      const lasts = clock.now().getTime() < certificate.validToDate.getTime() - RENEW_BEFORE_MS;
      return covers && lasts && certificate.checkPrivateKey(createPrivateKey(pem)) ? certificate : null;
    } catch (err) {
      log.warn({ err, file }, 'the certificate of the web server cannot be read and is made anew');
      return null;
    }
  }

  return {
    file,
    async ensure() {
      const present = await kept();
      if (present !== null) return present.fingerprint256;
      const notBefore = new Date(clock.now().getTime() - BACKDATED_MS);
      const { chain, key, notAfter } = await createSelfSigned({ names, notBefore, days: DAYS });
      await writeDurably(file, chain + key);
      log.info({ names, notAfter }, 'made a self-signed certificate for the web server');
      return new X509Certificate(chain).fingerprint256;
    },
  };
}
