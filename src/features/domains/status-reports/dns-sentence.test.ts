import { describe } from 'vitest';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import type { Observation } from './domain-context.ts';
import {
  a,
  aaaa,
  apex,
  CNAME,
  contextFor,
  EDGE,
  EDGE6,
  expectSentences,
  findings,
  OTHER,
  OTHER6,
  observed,
  problem,
  reach,
  untried,
  www,
} from './result-sentence.fixture.ts';

describe('a DNS problem', () => {
  expectSentences([
    [
      'not registered',
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: true },
        }),
      ),
      'Register the domain example.com, or correct its spelling here; it does not exist in the DNS.',
    ],
    [
      'no such name',
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: false },
        }),
      ),
      `Create the CNAME record of www.example.com with the value ${CNAME}; www.example.com does not exist in the DNS.`,
    ],
    [
      'no address at an apex, where no CNAME can be',
      contextFor('example.com'),
      problem(findings('example.com', { problem: { kind: 'no_address' } })),
      `Create the A record of example.com with the value ${EDGE}; example.com has no address yet.`,
    ],
    [
      'no address beside mail, which a CNAME would end',
      contextFor('mail.example.com'),
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
      contextFor('example.com', { target: { cname: CNAME, addresses: [] } }),
      problem(findings('example.com', { problem: { kind: 'no_address' } })),
      `Set an ALIAS record (also called ANAME) of example.com to ${CNAME}; example.com has no address yet.`,
    ],
    [
      'SERVFAIL',
      contextFor('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'servfail', zone: 'example.com' } })),
      'Ask the DNS provider of www.example.com to fix its zone example.com (name servers, DNSSEC); resolvers get SERVFAIL for it.',
    ],
    [
      'a refusal of the resolver',
      contextFor('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'resolver_error', rcode: 'REFUSED' } })),
      'The DNS resolver of this platform answered REFUSED for www.example.com; check again in a minute, and ask the operator to check the resolvers if it still fails.',
    ],
    [
      'a chain of CNAMEs that is too long',
      contextFor('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'long_cname_chain' } })),
      `Set the CNAME of www.example.com to ${CNAME} directly; more than 10 CNAMEs follow one another now, and resolvers give up.`,
    ],
    [
      'time-out',
      contextFor('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'timeout' } })),
      'The name servers of www.example.com did not answer in time; check again in a minute, and contact its DNS provider if they still fail.',
    ],
    [
      'no resolver',
      contextFor('www.example.com'),
      problem(findings('www.example.com', { problem: { kind: 'unreachable' } })),
      'No DNS resolver could be reached to look up www.example.com; check again in a minute, and ask the operator to check the resolvers if it still fails.',
    ],
    [
      'lame delegation',
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', {
          problem: { kind: 'lame', zone: 'example.com', servers: ['ns1.dns.example', 'ns2.dns.example'] },
        }),
      ),
      'Set up the zone example.com at ns1.dns.example and ns2.dns.example, or correct its name servers at the registrar; the zone is delegated to them, but they do not serve it.',
    ],
    [
      'CNAME at an apex',
      contextFor('example.com'),
      problem(
        findings('example.com', {
          cnames: ['other.example'],
          problem: { kind: 'cname_at_apex', target: 'other.example' },
        }),
      ),
      `Remove the CNAME of example.com and set its A record to ${EDGE}; a domain apex cannot have a CNAME.`,
    ],
    [
      'CNAME at an apex, even where it leads here',
      contextFor('example.com'),
      observed(
        findings('example.com', {
          cnames: [CNAME],
          a: a(EDGE),
          problem: { kind: 'cname_at_apex', target: CNAME },
        }),
      ),
      `Remove the CNAME of example.com and set its A record to ${EDGE}; a domain apex cannot have a CNAME.`,
    ],
    [
      'a CNAME loop',
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', {
          cnames: ['a.example.com', 'www.example.com'],
          problem: { kind: 'cname_loop', names: ['www.example.com', 'a.example.com', 'www.example.com'] },
        }),
      ),
      `Set the CNAME of www.example.com to ${CNAME}; the current ones form a loop: www.example.com, a.example.com, www.example.com.`,
    ],
    [
      'a CNAME into the void',
      contextFor('www.example.com'),
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
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', { cnames: [CNAME], problem: { kind: 'dangling_cname', target: CNAME } }),
      ),
      `The CNAME of www.example.com is right, but ${CNAME} has no address; ask your provider to point it to ${EDGE}.`,
    ],
    [
      'the right CNAME, but the platform has no DNS, and no address of the edge is known',
      contextFor('www.example.com', { target: { cname: CNAME, addresses: [] } }),
      problem(
        findings('www.example.com', { cnames: [CNAME], problem: { kind: 'dangling_cname', target: CNAME } }),
      ),
      `The CNAME of www.example.com is right, but ${CNAME} has no address; ask your provider to point it to this platform.`,
    ],
    [
      'the right CNAME, which leads to another host of the platform',
      contextFor('www.example.com'),
      observed(www({ a: a(OTHER) }), { reach: reach({ [OTHER]: 'another_server' }) }),
      `The CNAME of www.example.com is right, but ${CNAME} leads to ${OTHER}, where it is not served; ask your provider to point it to ${EDGE}.`,
    ],
    [
      'the right CNAME, which leads to every host of the platform',
      contextFor('www.example.com'),
      observed(www({ a: a(EDGE, OTHER) }), { reach: reach({ [EDGE]: null, [OTHER]: 'another_server' }) }),
      `The CNAME of www.example.com is right, but ${CNAME} leads to ${OTHER}, where it is not served; ask your provider to point it to ${EDGE}.`,
    ],
    [
      'stale caches',
      contextFor('example.com'),
      observed(
        apex({
          a: a(OTHER),
          staleSeconds: 700,
          authoritative: { servers: ['ns1.example.com'], cname: null, a: [EDGE], aaaa: [] },
        }),
        { reach: reach({ [OTHER]: 'another_server' }) },
      ),
      'The DNS of example.com is right at its name servers; caches may keep the old answer for up to 12 minutes more.',
    ],
    [
      'caches that still say that there is no such name',
      contextFor('www.example.com'),
      problem(
        findings('www.example.com', {
          staleSeconds: 1,
          authoritative: { servers: ['ns1.example.com'], cname: CNAME, a: [], aaaa: [] },
          problem: { kind: 'nxdomain', name: 'www.example.com', unregistered: false },
        }),
      ),
      'The DNS of www.example.com is right at its name servers; caches may keep the old answer for up to 1 second more.',
    ],
    [
      'stale caches and wrong name servers: the records at the name servers count',
      contextFor('example.com'),
      observed(
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
  const elsewhere = (found: NameFindings, more: Partial<Observation> = {}) =>
    observed(found, { reach: reach({ [OTHER]: 'another_server' }), ...more });
  const both = { target: { cname: CNAME, addresses: [EDGE, EDGE6] } };

  expectSentences([
    [
      'a CNAME',
      contextFor('www.example.com'),
      elsewhere(www({ cnames: ['other.example'], a: a(OTHER) })),
      `Set the CNAME of www.example.com to ${CNAME}; it points to other.example now.`,
    ],
    [
      'an A record at an apex',
      contextFor('example.com'),
      elsewhere(apex({ a: a(OTHER) })),
      `Set the A record of example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'several',
      contextFor('example.com'),
      elsewhere(apex({ a: a(OTHER, '198.51.100.8') })),
      `Set the A record of example.com to ${EDGE}; they are ${OTHER} and 198.51.100.8 now.`,
    ],
    [
      'an A record where a CNAME can be',
      contextFor('shop.example.com'),
      elsewhere(findings('shop.example.com', { a: a(OTHER) })),
      `Set the CNAME of shop.example.com to ${CNAME} in place of its A record ${OTHER}.`,
    ],
    [
      'the apex of a delegated zone',
      contextFor('shop.example.com'),
      elsewhere(findings('shop.example.com', { zone: 'shop.example.com', a: a(OTHER) })),
      `Set the A record of shop.example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'a wildcard',
      contextFor('*.example.com'),
      elsewhere(findings('*.example.com', { cnames: ['other.example'], a: a(OTHER) })),
      `Set the CNAME of *.example.com to ${CNAME}; it points to other.example now.`,
    ],
    [
      'both families at an apex, an edge of one',
      contextFor('example.com'),
      elsewhere(apex({ a: a(OTHER), aaaa: aaaa(OTHER6) })),
      `Set the A record of example.com to ${EDGE} (now ${OTHER}) and remove its AAAA record ${OTHER6}.`,
    ],
    [
      'both families at an apex, an edge of both',
      contextFor('example.com', both),
      elsewhere(apex({ a: a(OTHER), aaaa: aaaa(OTHER6) })),
      `Set the A record of example.com to ${EDGE} (now ${OTHER}) and set its AAAA record to ${EDGE6} (now ${OTHER6}).`,
    ],
    [
      'IPv6 alone leads elsewhere, and the edge has none',
      contextFor('example.com'),
      observed(apex({ aaaa: aaaa(OTHER6) }), { reach: reach({ [EDGE]: null, [OTHER6]: 'timeout' }) }),
      `Remove the AAAA record ${OTHER6} of example.com; it leads elsewhere.`,
    ],
    [
      'IPv6 alone leads elsewhere, and the edge has one',
      contextFor('example.com', both),
      observed(apex({ aaaa: aaaa(OTHER6) }), { reach: reach({ [EDGE]: null, [OTHER6]: 'timeout' }) }),
      `Set the AAAA record of example.com to ${EDGE6}; it is ${OTHER6} now.`,
    ],
    [
      'one of two A records',
      contextFor('example.com'),
      observed(apex({ a: a(EDGE, OTHER) }), { reach: reach({ [EDGE]: null, [OTHER]: 'another_server' }) }),
      `Remove the A record ${OTHER} of example.com; it leads elsewhere.`,
    ],
    [
      'a private address',
      contextFor('example.com'),
      observed(apex({ a: a('10.0.0.1') }), { reach: untried('10.0.0.1'), tls: null }),
      `Set the A record of example.com to ${EDGE}; 10.0.0.1 is a private address that visitors cannot reach.`,
    ],
    [
      "a private address that is the edge's own",
      contextFor('example.com', { target: { cname: CNAME, addresses: ['10.0.0.5'] } }),
      observed(apex({ a: a('10.0.0.5') }), { reach: untried('10.0.0.5'), tls: null }),
      'example.com leads to the private address 10.0.0.5, which checks may not contact; only the operator can allow that.',
    ],
  ]);
});
