import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Sealer } from '../../../secrets/sealer.ts';
import { certificateIn, sealedCertificateId } from '../host-folder/vhost.ts';
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

  /** The certificate of a name; null if it was removed since the vhost was loaded. A file can have thousands, so only this one is read. */
  async function load({ vhost, name, rule }: Route): Promise<SecureContext | null> {
    const span = vhost.certificates.get(name);
    const part = span === undefined ? null : store.readPart(vhost.id, span);
    const known = part === null || rule.certificate === null ? null : certificateIn(part, rule.certificate);
    const certificate = known ?? (await present(vhost.id, name));
    if (certificate === null) return null;
    const context = createSecureContext({ cert: certificate.chain, key: sealer.open(certificate.sealedKey) });
    contexts.set(sealedCertificateId(certificate), context);
    return context;
  }

  /** The certificate of a name in a file that has changed. */
  async function present(installId: string, name: string) {
    const stored = await store.read(installId);
    return stored?.file.hostnames.find((hostname) => hostname.name === name)?.certificate ?? null;
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
