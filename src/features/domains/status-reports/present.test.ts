import { expect, it } from 'vitest';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import { ProbeFailure } from '../../../network/probe/prober.ts';
import { type DomainContext, NO_OBSERVATION, type Observation } from './domain-context.ts';
import { presentCheck } from './present.ts';

const name = 'example.com';
const long = 'x'.repeat(5000);
const hdr = { name: long, rrtype: 1, class: 1, ttl: 300, rdlength: 4 };
const many = <T>(one: T): T[] => Array.from({ length: 1000 }, () => one);

const context: DomainContext = {
  id: 'id',
  name,
  isCname: false,
  isDuplicate: false,
  challenge: null,
  networkStatus: 'ACTIVE',
  sslReason: null,
  target: { cname: 'torquemag.sites.example', addresses: ['203.0.113.5'] },
  hasAuthority: true,
};
const place = { installId: 'id', installName: 'torquemag', cluster: 'host' };

const addresses = many('203.0.113.5');
const findings: NameFindings = {
  name,
  cnames: many(long),
  a: many({ type: 'A', hdr, address: '203.0.113.5' }),
  aaaa: many({ type: 'AAAA', hdr, address: '2001:db8::5' }),
  ns: many(long),
  mx: many({ exchange: long, preference: 1 }),
  txt: many(long),
  soa: many({
    type: 'SOA',
    hdr,
    ns: long,
    mbox: long,
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minttl: 1,
  }),
  caa: many({ type: 'CAA', hdr, flag: 0, tag: long, value: long }),
  zone: name,
  authoritative: { servers: [], cname: null, a: addresses, aaaa: addresses },
  staleSeconds: null,
  caaFailed: false,
  problem: { kind: 'lame', zone: long, servers: many(long) },
};
const observation: Observation = {
  ...NO_OBSERVATION,
  findings,
  reach: {
    arrivals: [],
    arrivesByHttp: false,
    arrivesByHttps: false,
    untried: true,
    sentence: null,
    reached: null,
  },
  tls: {
    status: 'failed',
    certificate: {
      issuer: long,
      notBefore: new Date(0),
      notAfter: new Date(0),
      serialNumber: long,
      commonName: long,
      dnsNames: many(long),
      signatureAlgorithm: 0,
      subject: {
        common_name: long,
        organization: many(long),
        organizational_unit: many(long),
        country: many(long),
        province: many(long),
        locality: many(long),
      },
      chainLength: 1,
      fingerprint256: '',
    },
    failure: { problem: 'expired', sentence: long },
  },
  redirects: { urls: [long, long], last: null, failure: new ProbeFailure('timeout', long) },
};

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}

it('limits lists and texts from outside', () => {
  const check = presentCheck(context, observation, place, true);
  const { txt, result, a_record, aaaa_record, http_forwarded_list, ip, address, ...others } = check;
  expect(txt).toHaveLength(100);
  for (const text of txt) expect(text).toBe(`${'x'.repeat(999)}…`);
  for (const text of strings(others)) expect(text.length).toBeLessThanOrEqual(500);
  for (const records of [others.ns, others.mx, others.soa, others.caa, others.aname, others.ssl.sans]) {
    expect(records).toHaveLength(100);
  }
  expect([ip.length, address.length]).toEqual([200, 200]);
  for (const joined of [a_record, aaaa_record]) expect(joined.split(', ')).toHaveLength(100);
  expect(http_forwarded_list.length).toBeLessThanOrEqual(500 + ' -> '.length + 500);
  expect(result.length).toBeLessThanOrEqual(2000);
});

it('keeps texts of usual length, and never cuts inside a character', () => {
  const txt = ['v=spf1 -all', 'y'.repeat(1000), `${'y'.repeat(998)}😀${'y'.repeat(9)}`];
  const check = presentCheck(context, { ...observation, findings: { ...findings, txt } }, place, false);
  expect(check.txt).toEqual(['v=spf1 -all', 'y'.repeat(1000), `${'y'.repeat(998)}…`]);
});
