import { describe, expect, it } from 'vitest';
import type { NameFindings } from '../../dns/look-up.ts';
import { VisitFailure } from '../../outbound/visitor.ts';
import type { Arrival, ArrivalProblem, Reach } from './reach.ts';
import { resultSentence } from './result-sentence.ts';
import { NOTHING_SEEN, type Sight, type Standing } from './standing.ts';

const EDGE = '203.0.113.5';
const EDGE6 = '2001:db8:5::5';
const OTHER = '198.51.100.7';
const OTHER6 = '2001:db8:7::7';
const CNAME = 'torquemag.sites.example';

const standing = (name: string, more: Partial<Standing> = {}): Standing => ({
  id: 'id',
  name,
  isCname: false,
  isDuplicate: false,
  networkStatus: 'ACTIVE',
  sslReason: null,
  target: { cname: CNAME, addresses: [EDGE] },
  hasAuthority: true,
  ...more,
});

const hdr = { name: '', rrtype: 1, class: 1, ttl: 300, rdlength: 4 };
const a = (...addresses: string[]) => addresses.map((address) => ({ type: 'A' as const, hdr, address }));
const aaaa = (...addresses: string[]) =>
  addresses.map((address) => ({ type: 'AAAA' as const, hdr, address }));

function findings(name: string, more: Partial<NameFindings> = {}): NameFindings {
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

/** By address: arrives, or why not; of HTTPS the same unless told. */
function reach(
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

const NOWHERE: Reach = {
  arrivals: [],
  arrivesByHttp: false,
  arrivesByHttps: false,
  untried: true,
  sentence: null,
  reached: false,
};
const untried = (address: string): Reach => ({ ...reach({ [address]: 'private_address' }), untried: true });

const VERIFIED = { status: 'verified' as const, certificate: null, failure: null };
const SELF_SIGNED = {
  status: 'self_signed' as const,
  certificate: null,
  failure: { problem: 'self_signed' as const, sentence: 'It is self-signed.' },
};

/** What is seen where all is well, but for `more`. */
const sight = (found: NameFindings, more: Partial<Sight> = {}): Sight => ({
  ...NOTHING_SEEN,
  findings: found,
  reach: reach({ [EDGE]: null }),
  tls: VERIFIED,
  journey: { urls: [`http://${found.name}/`], last: null, failure: null },
  ...more,
});

const apex = (more: Partial<NameFindings> = {}) => findings('example.com', { a: a(EDGE), ...more });
const www = (more: Partial<NameFindings> = {}) =>
  findings('www.example.com', { cnames: [CNAME], a: a(EDGE), ...more });

type Row = [string, Standing, Sight, string];

function holds(rows: Row[]): void {
  it.each(rows)('%s', (_case, standing, seen, expected) => {
    expect(resultSentence(standing, seen)).toBe(expected);
  });
}

const problem = (found: NameFindings) => sight(found, { reach: NOWHERE, tls: null });

describe('where all is well', () => {
  holds([
    ['an apex', standing('example.com'), sight(apex()), 'example.com answers here over HTTPS.'],
    [
      'behind a CDN, whatever its addresses',
      standing('example.com'),
      sight(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: null }) }),
      'example.com answers here over HTTPS.',
    ],
    [
      'seen in spite of a resolver that failed',
      standing('example.com'),
      sight(apex({ problem: { kind: 'servfail', zone: null } })),
      'example.com answers here over HTTPS.',
    ],
    [
      'no CAA, and no authority that would ask for it',
      standing('example.com', { hasAuthority: false }),
      sight(apex({ caaFailed: true })),
      'example.com answers here over HTTPS.',
    ],
    [
      'a wildcard, for which no authority is asked',
      standing('*.example.com'),
      sight(findings('*.example.com', { a: a(EDGE) }), { caaRefusal: 'The CAA records forbid it.' }),
      '*.example.com answers here over HTTPS.',
    ],
    [
      'an IPv6 address to which this machine has no route',
      standing('example.com'),
      sight(apex(), { reach: reach({ [EDGE]: null, [OTHER6]: 'no_route' }) }),
      'example.com answers here over HTTPS.',
    ],
    [
      "the platform's own name",
      standing(CNAME, { isCname: true }),
      sight(findings(CNAME)),
      `The edge serves ${CNAME}.`,
    ],
  ]);
});

describe('what the platform knows itself', () => {
  holds([
    [
      'a duplicate',
      standing('example.com', { isDuplicate: true }),
      sight(apex(), { reach: null }),
      'example.com is served by another install; remove it there to serve it here.',
    ],
    [
      'the edge failed',
      standing('example.com', { networkStatus: 'FAILED' }),
      sight(apex()),
      'The edge could not take on example.com; the operator finds the cause in the log.',
    ],
    [
      'pending',
      standing('example.com', { networkStatus: 'PENDING' }),
      sight(apex()),
      'The edge is taking on example.com; look again in a moment.',
    ],
    [
      'pending, and the DNS is wrong: that takes longer',
      standing('example.com', { networkStatus: 'PENDING' }),
      sight(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: 'another_server' }) }),
      `Set the A record of example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'a name of this machine',
      standing('blog.localhost', { isCname: true }),
      sight(findings('blog.localhost', { a: a('127.0.0.1') }), { reach: untried('127.0.0.1') }),
      'The edge serves blog.localhost; that is a name of this machine only, which visitors elsewhere cannot reach.',
    ],
    [
      "the platform's own name, without DNS",
      standing(CNAME, { isCname: true }),
      problem(findings(CNAME, { problem: { kind: 'nxdomain', name: CNAME, unregistered: false } })),
      `The edge serves ${CNAME}, but visitors do not get there; tell your provider, who has to point it to ${EDGE} in the DNS and open ports 80 and 443.`,
    ],
    [
      "the platform's own name, without DNS, and no address of the edge is known",
      standing(CNAME, { isCname: true, target: { cname: CNAME, addresses: [] } }),
      problem(findings(CNAME, { problem: { kind: 'nxdomain', name: CNAME, unregistered: false } })),
      `The edge serves ${CNAME}, but visitors do not get there; tell your provider, who has to point it to this platform in the DNS and open ports 80 and 443.`,
    ],
  ]);
});

describe('a problem of the DNS', () => {
  holds([
    [
      'not registered',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: true },
        }),
      ),
      'Register the domain example.com, or correct its spelling here; it does not exist in the DNS.',
    ],
    [
      'no such name',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: false },
        }),
      ),
      `Create the CNAME record of www.example.com with the value ${CNAME}; www.example.com does not exist in the DNS.`,
    ],
    [
      'no address at an apex, where no CNAME can be',
      standing('example.com'),
      problem(findings('example.com', { problem: { kind: 'no_address' } })),
      `Create the A record of example.com with the value ${EDGE}; example.com has no address yet.`,
    ],
    [
      'no address beside mail, which a CNAME would end',
      standing('mail.example.com'),
      problem(
        findings('mail.example.com', {
          mx: [{ exchange: 'mx.example.com', preference: 10 }],
          problem: { kind: 'no_address' },
        }),
      ),
      `Create the A record of mail.example.com with the value ${EDGE}; mail.example.com has no address yet.`,
    ],
    [
      'no address of the edge is known',
      standing('example.com', { target: { cname: CNAME, addresses: [] } }),
      problem(findings('example.com', { problem: { kind: 'no_address' } })),
      `Set an ALIAS record (also called ANAME) of example.com to ${CNAME}; example.com has no address yet.`,
    ],
    [
      'SERVFAIL',
      standing('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'servfail', zone: 'example.com' } })),
      'Have the DNS provider of www.example.com mend its zone example.com (name servers, DNSSEC); resolvers get a failure (SERVFAIL) for it.',
    ],
    [
      'time-out',
      standing('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'timeout' } })),
      'The name servers of www.example.com did not answer in time; look again in a minute, and ask its DNS provider if it stays so.',
    ],
    [
      'no resolver',
      standing('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'unreachable' } })),
      'No DNS resolver could be reached to look up www.example.com; the operator has to see to that.',
    ],
    [
      'lame delegation',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'lame', zone: 'example.com', servers: ['ns1.dns.example', 'ns2.dns.example'] },
        }),
      ),
      'Set up the zone example.com at ns1.dns.example and ns2.dns.example, or correct its name servers at the registrar; it is delegated there, but they do not serve it.',
    ],
    [
      'CNAME at an apex',
      standing('example.com'),
      problem(
        findings('example.com', {
          cnames: ['other.example'],
          problem: { kind: 'cname_at_apex', target: 'other.example' },
        }),
      ),
      `Remove the CNAME of example.com and set its A record to ${EDGE}; the top of a domain can have no CNAME.`,
    ],
    [
      'CNAME at an apex, even where it leads here',
      standing('example.com'),
      sight(
        findings('example.com', {
          cnames: [CNAME],
          a: a(EDGE),
          problem: { kind: 'cname_at_apex', target: CNAME },
        }),
      ),
      `Remove the CNAME of example.com and set its A record to ${EDGE}; the top of a domain can have no CNAME.`,
    ],
    [
      'CNAMEs in a circle',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          cnames: ['a.example.com', 'www.example.com'],
          problem: { kind: 'cname_loop', names: ['www.example.com', 'a.example.com', 'www.example.com'] },
        }),
      ),
      `Set the CNAME of www.example.com to ${CNAME}; the present ones lead in a circle: www.example.com, a.example.com, www.example.com.`,
    ],
    [
      'a CNAME into the void',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          cnames: ['gone.example'],
          problem: { kind: 'dangling_cname', target: 'gone.example' },
        }),
      ),
      `Set the CNAME of www.example.com to ${CNAME}; it points to gone.example now, which has no address.`,
    ],
    [
      'the right CNAME, but the platform has no DNS',
      standing('www.example.com'),
      problem(
        findings('www.example.com', { cnames: [CNAME], problem: { kind: 'dangling_cname', target: CNAME } }),
      ),
      `The CNAME of www.example.com is right, but ${CNAME} has no address; tell your provider, who has to point it to ${EDGE}.`,
    ],
    [
      'the right CNAME, but the platform has no DNS, and no address of the edge is known',
      standing('www.example.com', { target: { cname: CNAME, addresses: [] } }),
      problem(
        findings('www.example.com', { cnames: [CNAME], problem: { kind: 'dangling_cname', target: CNAME } }),
      ),
      `The CNAME of www.example.com is right, but ${CNAME} has no address; tell your provider, who has to point it to this platform.`,
    ],
    [
      'the right CNAME, which leads to another host of the platform',
      standing('www.example.com'),
      sight(www({ a: a(OTHER) }), { reach: reach({ [OTHER]: 'another_server' }) }),
      `The CNAME of www.example.com is right, but ${CNAME} leads to ${OTHER}, where it is not served; tell your provider, who has to point it to ${EDGE}.`,
    ],
    [
      'the right CNAME, which leads to every host of the platform',
      standing('www.example.com'),
      sight(www({ a: a(EDGE, OTHER) }), { reach: reach({ [EDGE]: null, [OTHER]: 'another_server' }) }),
      `The CNAME of www.example.com is right, but ${CNAME} leads to ${OTHER}, where it is not served; tell your provider, who has to point it to ${EDGE}.`,
    ],
    [
      'stale caches',
      standing('example.com'),
      sight(
        apex({
          a: a(OTHER),
          staleSeconds: 700,
          authoritative: { servers: ['ns1.example.com'], cname: null, a: [EDGE], aaaa: [] },
        }),
        { reach: reach({ [OTHER]: 'another_server' }) },
      ),
      'The DNS of example.com is right at its name servers; caches give the old answer for up to 12 minutes more.',
    ],
    [
      'caches that still say that there is no such name',
      standing('www.example.com'),
      problem(
        findings('www.example.com', {
          staleSeconds: 1,
          authoritative: { servers: ['ns1.example.com'], cname: CNAME, a: [], aaaa: [] },
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: false },
        }),
      ),
      'The DNS of www.example.com is right at its name servers; caches give the old answer for up to 1 second more.',
    ],
    [
      'stale caches, and wrong at the name servers too: what they say is what is to be changed',
      standing('example.com'),
      sight(
        apex({
          a: a(OTHER),
          staleSeconds: 700,
          authoritative: { servers: ['ns1.example.com'], cname: null, a: ['192.0.2.9'], aaaa: [] },
        }),
        { reach: reach({ [OTHER]: 'another_server' }) },
      ),
      `Set the A record of example.com to ${EDGE}; it is 192.0.2.9 now.`,
    ],
  ]);
});

describe('records that lead elsewhere', () => {
  const elsewhere = (found: NameFindings, more: Partial<Sight> = {}) =>
    sight(found, { reach: reach({ [OTHER]: 'another_server' }), ...more });
  const both = { target: { cname: CNAME, addresses: [EDGE, EDGE6] } };

  holds([
    [
      'a CNAME',
      standing('www.example.com'),
      elsewhere(www({ cnames: ['other.example'], a: a(OTHER) })),
      `Set the CNAME of www.example.com to ${CNAME}; it points to other.example now.`,
    ],
    [
      'an A record at an apex',
      standing('example.com'),
      elsewhere(apex({ a: a(OTHER) })),
      `Set the A record of example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'several',
      standing('example.com'),
      elsewhere(apex({ a: a(OTHER, '198.51.100.8') })),
      `Set the A record of example.com to ${EDGE}; they are ${OTHER} and 198.51.100.8 now.`,
    ],
    [
      'an A record where a CNAME can be',
      standing('shop.example.com'),
      elsewhere(findings('shop.example.com', { a: a(OTHER) })),
      `Set the CNAME of shop.example.com to ${CNAME} in place of its A record ${OTHER}.`,
    ],
    [
      'the top of a zone of its own, further down',
      standing('shop.example.com'),
      elsewhere(findings('shop.example.com', { zone: 'shop.example.com', a: a(OTHER) })),
      `Set the A record of shop.example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'a wildcard',
      standing('*.example.com'),
      elsewhere(findings('*.example.com', { cnames: ['other.example'], a: a(OTHER) })),
      `Set the CNAME of *.example.com to ${CNAME}; it points to other.example now.`,
    ],
    [
      'both families at an apex, an edge of one',
      standing('example.com'),
      elsewhere(apex({ a: a(OTHER), aaaa: aaaa(OTHER6) })),
      `Set the A record of example.com to ${EDGE} (now ${OTHER}) and remove its AAAA record ${OTHER6}.`,
    ],
    [
      'both families at an apex, an edge of both',
      standing('example.com', both),
      elsewhere(apex({ a: a(OTHER), aaaa: aaaa(OTHER6) })),
      `Set the A record of example.com to ${EDGE} (now ${OTHER}) and set its AAAA record to ${EDGE6} (now ${OTHER6}).`,
    ],
    [
      'IPv6 alone leads elsewhere, and the edge has none',
      standing('example.com'),
      sight(apex({ aaaa: aaaa(OTHER6) }), { reach: reach({ [EDGE]: null, [OTHER6]: 'timeout' }) }),
      `Remove the AAAA record ${OTHER6} of example.com; it leads elsewhere.`,
    ],
    [
      'IPv6 alone leads elsewhere, and the edge has one',
      standing('example.com', both),
      sight(apex({ aaaa: aaaa(OTHER6) }), { reach: reach({ [EDGE]: null, [OTHER6]: 'timeout' }) }),
      `Set the AAAA record of example.com to ${EDGE6}; it is ${OTHER6} now.`,
    ],
    [
      'one of two A records',
      standing('example.com'),
      sight(apex({ a: a(EDGE, OTHER) }), { reach: reach({ [EDGE]: null, [OTHER]: 'another_server' }) }),
      `Remove the A record ${OTHER} of example.com; it leads elsewhere.`,
    ],
    [
      'a private address',
      standing('example.com'),
      sight(apex({ a: a('10.0.0.1') }), { reach: untried('10.0.0.1'), tls: null }),
      `Set the A record of example.com to ${EDGE}; 10.0.0.1 is a private address that nobody outside can reach.`,
    ],
    [
      "a private address that is the edge's own",
      standing('example.com', { target: { cname: CNAME, addresses: ['10.0.0.5'] } }),
      sight(apex({ a: a('10.0.0.5') }), { reach: untried('10.0.0.5'), tls: null }),
      'example.com leads to the private address 10.0.0.5, where the check may not go; only the operator can allow that.',
    ],
  ]);
});

describe('the right address, but no edge there', () => {
  const at = (problem: ArrivalProblem) => sight(apex(), { reach: reach({ [EDGE]: problem }) });
  holds([
    [
      'refused',
      standing('example.com'),
      at('refused'),
      `The DNS of example.com is right, but ${EDGE} refuses connections to port 80; the operator has to start the edge there, or open port 80 in the firewall.`,
    ],
    [
      'time-out, by way of the CNAME',
      standing('www.example.com'),
      sight(www(), { reach: reach({ [EDGE]: 'timeout' }) }),
      `The DNS of www.example.com is right, but ${EDGE} did not answer at port 80 in time; the operator has to start the edge there, or open port 80 in the firewall.`,
    ],
    [
      'another server',
      standing('example.com'),
      at('another_server'),
      `The DNS of example.com is right, but another server answers at port 80 of ${EDGE}; the operator has to direct it to the edge.`,
    ],
    [
      'HTTPS alone refused',
      standing('example.com'),
      sight(apex(), { reach: reach({ [EDGE]: null }, { [EDGE]: 'refused' }) }),
      `example.com answers here over HTTP, but not over HTTPS: ${EDGE} refuses connections to port 443; the operator has to start the edge there, or open port 443 in the firewall.`,
    ],
    [
      'HTTPS alone ends at a CDN',
      standing('example.com'),
      sight(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: null }, { [OTHER]: 'another_server' }) }),
      `example.com answers here over HTTP, but not over HTTPS: ${OTHER} said another_server; have what is in front of this platform (CDN, proxy) pass HTTPS on to it.`,
    ],
  ]);
});

describe('redirects and certificates', () => {
  const journey = (failure: VisitFailure, urls: string[], location: string | null = null) => ({
    urls,
    failure,
    last: { status: 301, headers: {}, body: '', location: location === null ? null : new URL(location) },
  });
  const selfSigned = (more: Partial<Sight> = {}) => sight(apex(), { tls: SELF_SIGNED, ...more });

  holds([
    [
      'a circle',
      standing('example.com'),
      sight(apex(), {
        journey: journey(
          new VisitFailure('redirect_loop', 'x'),
          ['http://example.com/', 'https://example.com/'],
          'http://example.com/',
        ),
      }),
      'example.com answers here, but redirects in a circle (http://example.com/ -> https://example.com/ -> http://example.com/); take one of these redirects out, and have a CDN in front fetch over HTTPS.',
    ],
    [
      'too many',
      standing('example.com'),
      sight(apex(), {
        journey: journey(new VisitFailure('too_many_redirects', 'Too many; stop.'), ['a', 'b']),
      }),
      'example.com answers here, but visitors see no page: Too many; stop.',
    ],
    [
      'to a host that does not answer',
      standing('example.com'),
      sight(apex(), { journey: journey(new VisitFailure('refused', 'b.example refuses.'), ['a', 'b']) }),
      'example.com answers here, but its redirects fail: b.example refuses.',
    ],
    [
      'to a private address, at once',
      standing('example.com'),
      sight(apex(), {
        journey: journey(
          new VisitFailure('private_address', 'http://10.0.0.1/ leads to a private address.'),
          ['http://example.com/'],
          'http://10.0.0.1/',
        ),
      }),
      'example.com answers here, but its redirects fail: http://10.0.0.1/ leads to a private address.',
    ],
    [
      'no answer at all is for others to tell',
      standing('example.com'),
      sight(apex(), {
        journey: {
          urls: ['http://example.com/'],
          last: null,
          failure: new VisitFailure('timeout', 'It did not answer.'),
        },
      }),
      'example.com answers here over HTTPS.',
    ],
    [
      'fine now, but CAA forbids the authority',
      standing('example.com', { sslReason: 'An older reason.' }),
      sight(apex(), { caaRefusal: 'The CAA records of example.com allow only x.example; add y.' }),
      'example.com answers here over HTTPS, but its certificate cannot be renewed: The CAA records of example.com allow only x.example; add y.',
    ],
    [
      'fine now, but CAA cannot be looked up',
      standing('example.com'),
      sight(apex({ caaFailed: true })),
      'example.com answers here over HTTPS, but its certificate cannot be renewed: The CAA records of example.com cannot be looked up, so no authority may issue; its name servers have to answer.',
    ],
    [
      'self-signed, and CAA cannot be looked up',
      standing('example.com'),
      selfSigned({ findings: apex({ caaFailed: true }) }),
      'The CAA records of example.com cannot be looked up, so no authority may issue; its name servers have to answer.',
    ],
    [
      'self-signed, no authority',
      standing('example.com', { hasAuthority: false }),
      selfSigned(),
      'example.com answers here with a self-signed certificate, which browsers warn of; the operator has to configure a certificate authority.',
    ],
    [
      'self-signed, an order is under way',
      standing('example.com'),
      selfSigned(),
      'example.com answers here with a self-signed certificate until the authority has issued one; look again in a few minutes.',
    ],
    [
      'self-signed, the authority refused',
      standing('example.com', { sslReason: 'Too many orders for example.com.' }),
      selfSigned(),
      'example.com answers here, but with a self-signed certificate, which browsers warn of: Too many orders for example.com.',
    ],
    [
      'CAA forbids the authority',
      standing('example.com', { sslReason: 'An older reason.' }),
      selfSigned({ caaRefusal: 'The CAA records of example.com allow only x.example; add y.' }),
      'The CAA records of example.com allow only x.example; add y.',
    ],
    [
      'expired',
      standing('example.com'),
      sight(apex(), {
        tls: {
          status: 'failed',
          certificate: null,
          failure: { problem: 'expired', sentence: 'The certificate that example.com shows expired.' },
        },
      }),
      'example.com answers here, but not securely: The certificate that example.com shows expired.',
    ],
    [
      'for another name, and known why',
      standing('example.com', { sslReason: 'The authority said no.' }),
      sight(apex(), {
        tls: { status: 'failed', certificate: null, failure: { problem: 'wrong_name', sentence: 'x' } },
      }),
      'example.com answers here, but with a certificate for another name: The authority said no.',
    ],
  ]);
});

it('says so when nothing was seen in time', () => {
  expect(resultSentence(standing('example.com'), NOTHING_SEEN)).toBe(
    'example.com could not be looked up in time; ask for another report.',
  );
});
