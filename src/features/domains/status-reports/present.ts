import type { Static } from 'typebox';
import { isLocalhost } from '../../../network/dns/domain-name.ts';
import { dnsProviderOf } from '../../../network/dns/providers.ts';
import { chainUrls } from '../../../network/probe/redirect-chain.ts';
import type { DomainContext, Observation } from './domain-context.ts';
import { resultSentence } from './result-sentence.ts';
import type { domainCheckSchema } from './schema.ts';
import { firstRecords, shortened, shortenedSentence, shortenedTxt } from './text-limits.ts';

export type DomainCheck = Static<typeof domainCheckSchema>;
type RecordHeader = DomainCheck['aname'][number]['hdr'];

/** Where a domain is hosted. Each check repeats it. */
export interface Place {
  installId: string;
  installName: string;
  /** Name of the host. */
  cluster: string;
}

/** A check without observations. */
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

/** Presents the observations so far. The `result` is set when the check is complete. */
export function presentCheck(
  context: DomainContext,
  observation: Observation,
  place: Place,
  complete: boolean,
): DomainCheck {
  return {
    ...blankCheck(context.name, place),
    ...presentDns(observation.findings),
    ...presentHttp(context.name, observation.redirects),
    ...(observation.tls === null ? {} : { ssl: presentTls(observation.tls) }),
    ...(complete ? { complete, result: shortenedSentence(resultSentence(context, observation)) } : {}),
  };
}

function presentDns(findings: Observation['findings']): Partial<DomainCheck> {
  if (findings === null) return {};
  const a = firstRecords(findings.a).map(({ address }) => address);
  const aaaa = firstRecords(findings.aaaa).map(({ address }) => address);
  const { authoritative } = findings;
  return {
    cname: shortened(findings.cnames[0] ?? ''),
    a_record: a.join(', '),
    aaaa_record: aaaa.join(', '),
    dns_provider: shortened(dnsProviderOf(findings.ns)),
    dns_error: findings.problem !== null,
    ns: firstRecords(findings.ns).map((host) => ({ host: shortened(host) })),
    mx: firstRecords(findings.mx).map(({ exchange, preference }) => ({
      Host: shortened(exchange),
      Pref: preference,
    })),
    txt: firstRecords(findings.txt).map(shortenedTxt),
    ip: [...a, ...aaaa],
    address:
      authoritative === null ? [] : [...firstRecords(authoritative.a), ...firstRecords(authoritative.aaaa)],
    soa: firstRecords(findings.soa).map(({ type, hdr, ...soa }) => ({
      ...soa,
      hdr: presentHeader(hdr),
      ns: shortened(soa.ns),
      mbox: shortened(soa.mbox),
    })),
    caa: firstRecords(findings.caa).map(({ hdr, flag, tag, value }) => ({
      hdr: presentHeader(hdr),
      flag,
      tag: shortened(tag),
      value: shortened(value),
    })),
    aname: firstRecords(findings.a).map(({ hdr, address }) => ({ hdr: presentHeader(hdr), a: address })),
  };
}

function presentHeader(hdr: RecordHeader): RecordHeader {
  return { ...hdr, name: shortened(hdr.name) };
}

function presentHttp(name: string, redirects: Observation['redirects']): Partial<DomainCheck> {
  if (redirects === null) return {};
  const chain = chainUrls(redirects).map(shortened);
  const redirected = chain.length > 1;
  // A name of this machine is unreachable from outside by design.
  const local = isLocalhost(name) && redirects.failure?.problem === 'private_address';
  return {
    http_forwarded: redirected ? (chain.at(-1) ?? '') : '',
    http_forwarded_list: redirected ? chain.join(' -> ') : '',
    http_error: redirects.failure !== null && !local,
  };
}

function presentTls({ status, certificate, failure }: NonNullable<Observation['tls']>): DomainCheck['ssl'] {
  const error = shortened(failure?.sentence ?? '');
  if (certificate === null) return { ...NO_CERTIFICATE, status, error };
  const { subject } = certificate;
  const dnsNames = few(certificate.dnsNames);
  return {
    status,
    issuer: shortened(certificate.issuer),
    not_before: certificate.notBefore.toISOString(),
    not_after: certificate.notAfter.toISOString(),
    error,
    serial_number: shortened(certificate.serialNumber),
    common_name: shortened(certificate.commonName),
    dns_names: dnsNames,
    sans: dnsNames,
    signature_algorithm: certificate.signatureAlgorithm,
    subject: {
      common_name: shortened(subject.common_name),
      organization: few(subject.organization),
      organizational_unit: few(subject.organizational_unit),
      country: few(subject.country),
      province: few(subject.province),
      locality: few(subject.locality),
    },
  };
}

function few(texts: string[]): string[] {
  return firstRecords(texts).map(shortened);
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
