import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Sealer } from '../../../secrets/sealer.ts';
import type { Vhost, VhostName } from '../host-folder/vhost.ts';
import type { VhostStore } from '../host-folder/vhost-store.ts';
import type { EdgeCertificate } from './edge-certificate.ts';
import type { LiveVhosts } from './live-vhosts.ts';

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
  const contexts = new LRUCache<string, SecureContext>({ max: KEPT_CONTEXTS });

  async function load(vhost: Vhost, hostname: VhostName): Promise<SecureContext> {
    const key = `${vhost.revision}/${hostname.name}`;
    const kept = contexts.get(key);
    if (kept !== undefined) return kept;
    const stored = await store.read(vhost.id);
    const certificate =
      stored?.file.hostnames.find(({ name }) => name === hostname.name)?.certificate ?? null;
    // Removed since the vhost was loaded.
    if (certificate === null) return (await own.present()).context;
    const context = createSecureContext({ cert: certificate.chain, key: sealer.open(certificate.sealedKey) });
    contexts.set(key, context);
    return context;
  }

  return {
    async contextFor(serverName) {
      const route = await vhosts.find(serverName.toLowerCase());
      if (route === undefined || route.hostname.certifiedUntil === null) return (await own.present()).context;
      try {
        return await load(route.vhost, route.hostname);
      } catch (err) {
        log.error(
          { err, install: route.vhost.id, hostname: route.hostname.name },
          'a certificate cannot be used; the self-signed one of the edge is shown instead',
        );
        return (await own.present()).context;
      }
    },
  };
}
