import type { Static } from 'typebox';
import { isLocalhost } from '../../dns/domain-name.ts';
import { dnsProviderOf } from '../../dns/providers.ts';
import { redirectChain } from './redirect-chain.ts';
import { resultSentence } from './result-sentence.ts';
import type { domainCheckSchema } from './schema.ts';
import type { Sight, Standing } from './standing.ts';

export type DomainCheck = Static<typeof domainCheckSchema>;

/** Where a domain is hosted, as each of its checks says. */
export interface Place {
  installId: string;
  installName: string;
  /** What the edge goes by. */
  cluster: string;
}

/** A check that has seen nothing yet. */
export function blankCheck(name: string, place: Place): DomainCheck {
  return {
    name,
    cname: '',
    a_record: '',
    aaaa_record: '',
    result: `${name} is being looked up.`,
    dns_provider: '',
    install_name: place.installName,
    cluster_id: place.cluster,
    http_forwarded: '',
    http_forwarded_list: '',
    platform_env_id: place.installId,
    complete: false,
    dns_error: false,
    http_error: false,
    ns: [],
    mx: [],
    txt: [],
    ip: [],
    address: [],
    soa: [],
    caa: [],
    aname: [],
    ssl: NO_CERTIFICATE,
  };
}

/** What a check says of what it saw so far. The `result` is drawn when it is complete. */
export function presentCheck(standing: Standing, sight: Sight, place: Place, complete: boolean): DomainCheck {
  return {
    ...blankCheck(standing.name, place),
    ...presentDns(sight.findings),
    ...presentHttp(standing.name, sight.journey),
    ...(sight.tls === null ? {} : { ssl: presentTls(sight.tls) }),
    ...(complete ? { complete, result: resultSentence(standing, sight) } : {}),
  };
}

function presentDns(findings: Sight['findings']): Partial<DomainCheck> {
  if (findings === null) return {};
  const a = findings.a.map(({ address }) => address);
  const aaaa = findings.aaaa.map(({ address }) => address);
  const { authoritative } = findings;
  return {
    cname: findings.cnames[0] ?? '',
    a_record: a.join(', '),
    aaaa_record: aaaa.join(', '),
    dns_provider: dnsProviderOf(findings.ns),
    dns_error: findings.problem !== null,
    ns: findings.ns.map((host) => ({ host })),
    mx: findings.mx.map(({ exchange, preference }) => ({ Host: exchange, Pref: preference })),
    txt: findings.txt,
    ip: [...a, ...aaaa],
    address: authoritative === null ? [] : [...authoritative.a, ...authoritative.aaaa],
    soa: findings.soa.map(({ type, ...soa }) => soa),
    caa: findings.caa.map(({ type, ...caa }) => caa),
    aname: findings.a.map(({ hdr, address }) => ({ hdr, a: address })),
  };
}

function presentHttp(name: string, journey: Sight['journey']): Partial<DomainCheck> {
  if (journey === null) return {};
  const chain = redirectChain(journey);
  const redirected = chain.length > 1;
  // That nobody outside gets to a name of this machine is no error.
  const local = isLocalhost(name) && journey.failure?.problem === 'private_address';
  return {
    http_forwarded: redirected ? (chain.at(-1) ?? '') : '',
    http_forwarded_list: redirected ? chain.join(' -> ') : '',
    http_error: journey.failure !== null && !local,
  };
}

function presentTls({ status, certificate, failure }: NonNullable<Sight['tls']>): DomainCheck['ssl'] {
  const error = failure?.sentence ?? '';
  if (certificate === null) return { ...NO_CERTIFICATE, status, error };
  return {
    status,
    issuer: certificate.issuer,
    not_before: certificate.notBefore.toISOString(),
    not_after: certificate.notAfter.toISOString(),
    error,
    serial_number: certificate.serialNumber,
    common_name: certificate.commonName,
    dns_names: certificate.dnsNames,
    sans: certificate.dnsNames,
    signature_algorithm: certificate.signatureAlgorithm,
    subject: certificate.subject,
  };
}

const NO_CERTIFICATE: DomainCheck['ssl'] = {
  status: 'none',
  issuer: '',
  not_before: '',
  not_after: '',
  error: '',
  serial_number: '',
  common_name: '',
  dns_names: [],
  sans: [],
  signature_algorithm: 0,
  subject: {
    common_name: '',
    organization: [],
    organizational_unit: [],
    country: [],
    province: [],
    locality: [],
  },
};
