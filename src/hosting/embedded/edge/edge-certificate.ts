import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { createSelfSigned } from '../../policy/self-signed-certificate.ts';

/** The longest that browsers accept. */
const DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of visitors that are a little slow must not find it "not yet valid". */
const BACKDATED_MS = HOUR_MS;

/** What the edge shows for names that have no certificate of their own: a self-signed one, kept in one file with its key. */
export interface EdgeCertificate {
  /** The present one; made, or made anew, when there is none that will be valid for a while. */
  present(): Promise<PresentCertificate>;
}

export interface PresentCertificate {
  /** Certificate and private key, PEM. */
  pem: string;
  context: SecureContext;
}

export interface EdgeCertificateOptions {
  /** PEM file, certificate and private key; readable by the owner alone. */
  file: string;
  siteDomain: string;
  clock: Clock;
  log: Logger;
}

interface Renewable extends PresentCertificate {
  /** In milliseconds. */
  renewAt: number;
}

export function createEdgeCertificate({
  file,
  siteDomain,
  clock,
  log,
}: EdgeCertificateOptions): EdgeCertificate {
  const names = [siteDomain, `*.${siteDomain}`];
  let present: Renewable | null = null;
  let obtaining: Promise<Renewable> | null = null;

  const isDue = (at: number): boolean => clock.now().getTime() >= at;

  async function obtain(): Promise<Renewable> {
    const kept = await keptPem();
    const usable = kept === null ? null : usablePem(kept);
    if (usable !== null && !isDue(usable.renewAt)) return usable;
    const notBefore = new Date(clock.now().getTime() - BACKDATED_MS);
    const { chain, key, notAfter } = await createSelfSigned({ names, notBefore, days: DAYS });
    await writeDurably(file, chain + key);
    log.info({ names, notAfter }, 'made a self-signed certificate for the edge');
    return renewable(chain + key, notAfter);
  }

  async function keptPem(): Promise<string | null> {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  function usablePem(pem: string): Renewable | null {
    try {
      const certificate = new X509Certificate(pem);
      const covers = certificate.subjectAltName === names.map((name) => `DNS:${name}`).join(', ');
      if (!covers || !certificate.checkPrivateKey(createPrivateKey(pem))) return null;
      return renewable(pem, certificate.validToDate);
    } catch (cause) {
      log.warn({ err: cause, file }, 'the certificate of the edge cannot be read and is made anew');
      return null;
    }
  }

  return {
    async present() {
      if (present !== null && !isDue(present.renewAt)) return present;
      obtaining ??= obtain().finally(() => {
        obtaining = null;
      });
      present = await obtaining;
      return present;
    },
  };
}

function renewable(pem: string, notAfter: Date): Renewable {
  return {
    pem,
    context: createSecureContext({ cert: pem, key: pem }),
    renewAt: notAfter.getTime() - RENEW_BEFORE_MS,
  };
}
