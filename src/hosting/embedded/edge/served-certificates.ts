import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Sealer } from '../../../secrets/sealer.ts';
import { sealedCertificateId } from '../host-folder/vhost.ts';
import type { VhostStore } from '../host-folder/vhost-store.ts';
import type { EdgeCertificate } from './edge-certificate.ts';
import type { LiveVhosts } from './live-vhosts.ts';
import type { Route } from './routing.ts';

/** Selects the certificate for the name in a TLS handshake (SNI, RFC 6066 section 3). */
export interface ServedCertificates {
  contextFor(serverName: string): Promise<SecureContext>;
}

export interface ServedCertificatesOptions {
  vhosts: LiveVhosts;
  store: VhostStore;
  sealer: Sealer;
  own: EdgeCertificate;
  log: Logger;
}

/**
 * A context takes about 30 KB, so only requested ones are kept. Creating one takes as long as the rest of a handshake, nearly all of it
 * in OpenSSL (bench/handshakes.ts).
 */
const KEPT_CONTEXTS = 2_000;

export function createServedCertificates({
  vhosts,
  store,
  sealer,
  own,
  log,
}: ServedCertificatesOptions): ServedCertificates {
  /** By the id of the certificate. */
  const contexts = new LRUCache<string, SecureContext>({ max: KEPT_CONTEXTS });

  /** The certificate of a name; null if it was removed since the vhost was loaded. */
  async function load({ vhost, name }: Route): Promise<SecureContext | null> {
    const stored = await store.read(vhost.id);
    const certificate = stored?.file.hostnames.find((hostname) => hostname.name === name)?.certificate;
    if (!certificate) return null;
    const context = createSecureContext({ cert: certificate.chain, key: sealer.open(certificate.sealedKey) });
    contexts.set(sealedCertificateId(certificate), context);
    return context;
  }

  return {
    async contextFor(serverName) {
      const route = await vhosts.find(serverName.toLowerCase());
      const id = route?.rule.certificate ?? null;
      if (route === undefined || id === null) return (await own.present()).context;
      try {
        return contexts.get(id) ?? (await load(route)) ?? (await own.present()).context;
      } catch (err) {
        log.error(
          { err, install: route.vhost.id, hostname: route.name },
          'a certificate cannot be used; the self-signed one of the edge is shown instead',
        );
        return (await own.present()).context;
      }
    },
  };
}
