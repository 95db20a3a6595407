import { expect, it } from 'vitest';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import { type DomainContext, NO_OBSERVATION, type Observation } from './domain-context.ts';
import type { Arrival, ArrivalProblem, Reach } from './reach.ts';
import { resultSentence } from './result-sentence.ts';

export const EDGE = '203.0.113.5';
export const EDGE6 = '2001:db8:5::5';
export const OTHER = '198.51.100.7';
export const OTHER6 = '2001:db8:7::7';
export const CNAME = 'torquemag.sites.example';

export const contextFor = (name: string, more: Partial<DomainContext> = {}): DomainContext => ({
  id: 'id',
  name,
  isCname: false,
  isDuplicate: false,
  challenge: null,
  networkStatus: 'ACTIVE',
  sslReason: null,
  target: { cname: CNAME, addresses: [EDGE] },
  hasAuthority: true,
  ...more,
});

const hdr = { name: '', rrtype: 1, class: 1, ttl: 300, rdlength: 4 };
export const a = (...addresses: string[]) =>
  addresses.map((address) => ({ type: 'A' as const, hdr, address }));
export const aaaa = (...addresses: string[]) =>
  addresses.map((address) => ({ type: 'AAAA' as const, hdr, address }));

export function findings(name: string, more: Partial<NameFindings> = {}): NameFindings {
  return {
    name,
    cnames: [],
    a: [],
    aaaa: [],
    ns: [],
    mx: [],
    txt: [],
    soa: [],
    caa: [],
    zone: 'example.com',
    authoritative: null,
    staleSeconds: null,
    caaFailed: false,
    problem: null,
    ...more,
  };
}

/** Attempts by address: null arrives, or the problem. HTTPS is like HTTP unless given. */
export function reach(
  http: Record<string, ArrivalProblem | null>,
  https: Record<string, ArrivalProblem | null> = http,
): Reach {
  const arrivals = Object.entries({ http, https }).flatMap(([scheme, tries]) =>
    Object.entries(tries).map(
      ([address, problem]): Arrival => ({
        scheme: scheme === 'http' ? 'http' : 'https',
        address,
        family: address.includes(':') ? 6 : 4,
        arrives: problem === null,
        failure: problem && `${address} said ${problem}.`,
        problem,
      }),
    ),
  );
  const arrives = (scheme: string) =>
    arrivals.every((arrival) => arrival.scheme !== scheme || arrival.arrives) && arrivals.length > 0;
  return {
    arrivals,
    arrivesByHttp: arrives('http'),
    arrivesByHttps: arrives('https'),
    untried: false,
    sentence: null,
    reached: arrives('http'),
  };
}

export const NOWHERE: Reach = {
  arrivals: [],
  arrivesByHttp: false,
  arrivesByHttps: false,
  untried: true,
  sentence: null,
  reached: false,
};
export const untried = (address: string): Reach => ({
  ...reach({ [address]: 'private_address' }),
  untried: true,
});

export const VERIFIED = { status: 'verified' as const, certificate: null, failure: null };
export const SELF_SIGNED = {
  status: 'self_signed' as const,
  certificate: null,
  failure: { problem: 'self_signed' as const, sentence: 'It is self-signed.' },
};

/** An observation without problems, except for `more`. */
export const observed = (found: NameFindings, more: Partial<Observation> = {}): Observation => ({
  ...NO_OBSERVATION,
  findings: found,
  reach: reach({ [EDGE]: null }),
  tls: VERIFIED,
  redirects: { urls: [`http://${found.name}/`], last: null, failure: null },
  ...more,
});

export const apex = (more: Partial<NameFindings> = {}) => findings('example.com', { a: a(EDGE), ...more });
export const www = (more: Partial<NameFindings> = {}) =>
  findings('www.example.com', { cnames: [CNAME], a: a(EDGE), ...more });

type Row = [string, DomainContext, Observation, string];

export function expectSentences(rows: Row[]): void {
  it.each(rows)('%s', (_case, context, seen, expected) => {
    expect(resultSentence(context, seen)).toBe(expected);
  });
}

export const problem = (found: NameFindings) => observed(found, { reach: NOWHERE, tls: null });
