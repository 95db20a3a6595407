import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { singleFlight } from '../../../lib/concurrency.ts';
import { createDefaultCertificate } from '../../policy/default-certificate.ts';

/** The default certificate of the edge in memory, renewed when it is due. */
export interface EdgeCertificate {
  present(): Promise<PresentCertificate>;
}

export interface PresentCertificate {
  /** Certificate and private key, PEM. */
  pem: string;
  context: SecureContext;
}

export interface EdgeCertificateOptions {
  /** PEM file, certificate and private key; readable by its owner only. */
  file: string;
  siteDomain: string;
  clock: Clock;
  log: Logger;
}

export function createEdgeCertificate(options: EdgeCertificateOptions): EdgeCertificate {
  const { file, siteDomain, clock, log } = options;
  const kept = createDefaultCertificate({ file, names: [siteDomain, `*.${siteDomain}`], clock, log });
  let present: (PresentCertificate & { renewAt: number }) | null = null;

  const load = singleFlight(async () => {
    const { pem, renewAt } = await kept.ensure();
    present = { pem, context: createSecureContext({ cert: pem, key: pem }), renewAt };
    return present;
  });

  return {
    async present() {
      return present !== null && clock.now().getTime() < present.renewAt ? present : load();
    },
  };
}
