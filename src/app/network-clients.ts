import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config/config.ts';
import type { LookUpTxtRecords } from '../features/domains/domains/ownership-service.ts';
import type { Internet } from '../features/domains/status-reports/internet.ts';
import { messageOf } from '../lib/error-message.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { proxyVariables } from '../lib/outbound-proxy.ts';
import { createAuthority } from '../network/acme/acme-authority.ts';
import type { Authority } from '../network/acme/authority.ts';
import { createDnsResolver, systemDnsServers } from '../network/dns/resolver.ts';
import { lookUpTxtRecords } from '../network/dns/txt-records.ts';
import { createAddressPolicy } from '../network/probe/address-policy.ts';
import { createProber, type WebPorts } from '../network/probe/prober.ts';
import { createSender, type Sender } from '../network/webhooks/sender.ts';
import type { Platform } from '../platform/platform.ts';

/** The clients for name servers, for probes of customers' host names, and for the certificate authority. */
export interface Outside {
  internet: Internet;
  /** The configured authority; null for self-signed certificates only. */
  authority: { authority: Authority; directoryUrl: string } | null;
  /** The certificates of HOMEPORT_ACME_CA. */
  roots: readonly string[];
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const DNS_PORT = 53;

/**
 * `edgePorts`: ports of this machine's edge. `dnsPort`: port of authoritative name servers. Throws OperatorError for
 * root certificates that cannot be read.
 */
export function createOutside(
  { config, clock, log }: Pick<Platform, 'config' | 'clock' | 'log'>,
  { edgePorts, dnsPort }: { edgePorts: () => WebPorts; dnsPort: number },
): Outside {
  const resolver = createDnsResolver(config.resolvers ?? systemDnsServers());
  const policy = createAddressPolicy(config.allowPrivateTargets);
  const roots = config.acmeCa === null ? [] : readRoots(config.acmeCa);
  const prober = createProber({
    resolver,
    policy,
    clock,
    log,
    extraRoots: roots,
    // No port forwarding applies on the way to this machine itself.
    portsOf: (address) => (isLoopback(address) ? edgePorts() : { http: HTTP_PORT, https: HTTPS_PORT }),
  });
  return {
    internet: { resolver, prober, mayContact: policy, authoritativePort: dnsPort },
    authority: configuredAuthority(config, roots, { clock, log }),
    roots,
  };
}

/** Looks up TXT records with the configured resolvers. `dnsPort`: port of authoritative name servers. */
export function createTextLookUp(
  { resolvers, allowPrivateTargets }: Pick<Config, 'resolvers' | 'allowPrivateTargets'>,
  dnsPort: number = DNS_PORT,
): LookUpTxtRecords {
  const resolver = createDnsResolver(resolvers ?? systemDnsServers());
  const mayContact = createAddressPolicy(allowPrivateTargets);
  return (name, signal) =>
    lookUpTxtRecords(name, { resolver, mayContact, signal, authoritativePort: dnsPort });
}

/** The sender of webhooks. Receivers pass the same address check as the targets of domain checks. */
export function createWebhookSender(
  config: Pick<Config, 'resolvers' | 'allowPrivateTargets' | 'httpProxy' | 'httpsProxy' | 'noProxy'>,
): Sender {
  return createSender({
    servers: config.resolvers ?? systemDnsServers(),
    allowed: config.allowPrivateTargets,
    proxy: proxyVariables(config),
  });
}

function configuredAuthority(
  { acmeDirectory, acmeContact, acmeTermsAgreed }: Config,
  roots: string[],
  surroundings: Pick<Platform, 'clock' | 'log'>,
): Outside['authority'] {
  if (acmeDirectory === null) return null;
  const authority = createAuthority(
    {
      directoryUrl: acmeDirectory,
      contact: acmeContact,
      termsAgreed: acmeTermsAgreed,
      ca: roots.length === 0 ? null : roots.join('\n'),
    },
    surroundings,
  );
  return { authority, directoryUrl: acmeDirectory };
}

/** The certificates of a PEM file, one by one. */
export function readRoots(file: string): string[] {
  try {
    const found = readFileSync(file, 'utf8').match(
      /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
    );
    if (found === null) throw new Error('it holds no certificate');
    return found.map((pem) => new X509Certificate(pem).toString());
  } catch (error) {
    const reason = messageOf(error);
    throw new OperatorError(`The certificates of HOMEPORT_ACME_CA cannot be read from ${file}: ${reason}.`, {
      cause: error,
    });
  }
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
