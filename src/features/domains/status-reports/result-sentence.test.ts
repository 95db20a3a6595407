import { describe, expect, it } from 'vitest';
import { ProbeFailure } from '../../../network/probe/prober.ts';
import { NO_OBSERVATION, type Observation } from './domain-context.ts';
import type { ArrivalProblem } from './reach.ts';
import {
  a,
  apex,
  CNAME,
  contextFor,
  EDGE,
  expectSentences,
  findings,
  OTHER,
  OTHER6,
  observed,
  problem,
  reach,
  SELF_SIGNED,
  untried,
  www,
} from './result-sentence.fixture.ts';
import { resultSentence } from './result-sentence.ts';

describe('without problems', () => {
  expectSentences([
    ['an apex', contextFor('example.com'), observed(apex()), 'example.com answers here over HTTPS.'],
    [
      'behind a CDN, whatever its addresses',
      contextFor('example.com'),
      observed(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: null }) }),
      'example.com answers here over HTTPS.',
    ],
    [
      'seen in spite of a resolver that failed',
      contextFor('example.com'),
      observed(apex({ problem: { kind: 'servfail', zone: null } })),
      'example.com answers here over HTTPS.',
    ],
    [
      'no CAA, and no authority that would ask for it',
      contextFor('example.com', { hasAuthority: false }),
      observed(apex({ caaFailed: true })),
      'example.com answers here over HTTPS.',
    ],
    [
      'a wildcard, which is never ordered',
      contextFor('*.example.com'),
      observed(findings('*.example.com', { a: a(EDGE) }), { caaRefusal: 'The CAA records forbid it.' }),
      '*.example.com answers here over HTTPS.',
    ],
    [
      'an IPv6 address without a route from this machine',
      contextFor('example.com'),
      observed(apex(), { reach: reach({ [EDGE]: null, [OTHER6]: 'no_route' }) }),
      'example.com answers here over HTTPS.',
    ],
    [
      "the platform's own name",
      contextFor(CNAME, { isCname: true }),
      observed(findings(CNAME)),
      `The edge serves ${CNAME}.`,
    ],
  ]);
});

describe('problems that the platform knows', () => {
  expectSentences([
    [
      'a duplicate',
      contextFor('example.com', { isDuplicate: true }),
      observed(apex(), { reach: null }),
      'example.com is served by another install; remove it there to serve it here.',
    ],
    [
      'the edge failed',
      contextFor('example.com', { networkStatus: 'FAILED' }),
      observed(apex()),
      'The edge could not start to serve example.com; the operator can find the cause in the log.',
    ],
    [
      'pending',
      contextFor('example.com', { networkStatus: 'PENDING' }),
      observed(apex()),
      'The edge is starting to serve example.com; check again in a moment.',
    ],
    [
      'pending, and the DNS is wrong: that takes longer',
      contextFor('example.com', { networkStatus: 'PENDING' }),
      observed(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: 'another_server' }) }),
      `Set the A record of example.com to ${EDGE}; it is ${OTHER} now.`,
    ],
    [
      'a name of this machine',
      contextFor('blog.localhost', { isCname: true }),
      observed(findings('blog.localhost', { a: a('127.0.0.1') }), { reach: untried('127.0.0.1') }),
      'The edge serves blog.localhost, a name of this machine only, which visitors elsewhere cannot reach.',
    ],
    [
      "the platform's own name, without an answer of a resolver",
      contextFor(CNAME, { isCname: true }),
      problem(findings(CNAME, { problem: { kind: 'unreachable' } })),
      `No DNS resolver could be reached to look up ${CNAME}; check again in a minute, and ask the operator to check the resolvers if it still fails.`,
    ],
    [
      "the platform's own name, without DNS",
      contextFor(CNAME, { isCname: true }),
      problem(findings(CNAME, { problem: { kind: 'nxdomain', name: CNAME, unregistered: false } })),
      `The edge serves ${CNAME}, but visitors cannot reach it; ask your provider to point it to ${EDGE} in the DNS and open ports 80 and 443.`,
    ],
    [
      "the platform's own name, without DNS, and no address of the edge is known",
      contextFor(CNAME, { isCname: true, target: { cname: CNAME, addresses: [] } }),
      problem(findings(CNAME, { problem: { kind: 'nxdomain', name: CNAME, unregistered: false } })),
      `The edge serves ${CNAME}, but visitors cannot reach it; ask your provider to point it to this platform in the DNS and open ports 80 and 443.`,
    ],
  ]);
});

describe('the right address without an edge', () => {
  const at = (problem: ArrivalProblem) => observed(apex(), { reach: reach({ [EDGE]: problem }) });
  expectSentences([
    [
      'refused',
      contextFor('example.com'),
      at('refused'),
      `The DNS of example.com is right, but ${EDGE} refuses connections to port 80; the operator must start the edge there, or open port 80 in the firewall.`,
    ],
    [
      'time-out, by way of the CNAME',
      contextFor('www.example.com'),
      observed(www(), { reach: reach({ [EDGE]: 'timeout' }) }),
      `The DNS of www.example.com is right, but ${EDGE} did not answer at port 80 in time; the operator must start the edge there, or open port 80 in the firewall.`,
    ],
    [
      'another server',
      contextFor('example.com'),
      at('another_server'),
      `The DNS of example.com is right, but another server answers at port 80 of ${EDGE}; the operator must direct that port to the edge.`,
    ],
    [
      'HTTPS alone refused',
      contextFor('example.com'),
      observed(apex(), { reach: reach({ [EDGE]: null }, { [EDGE]: 'refused' }) }),
      `example.com answers here over HTTP, but not over HTTPS: ${EDGE} refuses connections to port 443; the operator must start the edge there, or open port 443 in the firewall.`,
    ],
    [
      'HTTPS alone ends at a CDN',
      contextFor('example.com'),
      observed(apex({ a: a(OTHER) }), { reach: reach({ [OTHER]: null }, { [OTHER]: 'another_server' }) }),
      `example.com answers here over HTTP, but not over HTTPS: ${OTHER} said another_server; make the CDN or proxy in front of this platform forward HTTPS.`,
    ],
  ]);
});

describe('redirects and certificates', () => {
  const redirects = (failure: ProbeFailure, urls: string[], location: string | null = null) => ({
    urls,
    failure,
    last: { status: 301, headers: {}, body: '', location: location === null ? null : new URL(location) },
  });
  const selfSigned = (more: Partial<Observation> = {}) => observed(apex(), { tls: SELF_SIGNED, ...more });

  expectSentences([
    [
      'a circle',
      contextFor('example.com'),
      observed(apex(), {
        redirects: redirects(
          new ProbeFailure('redirect_loop', 'x'),
          ['http://example.com/', 'https://example.com/'],
          'http://example.com/',
        ),
      }),
      'example.com answers here, but redirects in a loop (http://example.com/ -> https://example.com/ -> http://example.com/); remove one of these redirects, and make any CDN in front fetch over HTTPS.',
    ],
    [
      'too many',
      contextFor('example.com'),
      observed(apex(), {
        redirects: redirects(new ProbeFailure('too_many_redirects', 'Too many; stop.'), ['a', 'b']),
      }),
      'example.com answers here, but visitors see no page: Too many; stop.',
    ],
    [
      'to a host that does not answer',
      contextFor('example.com'),
      observed(apex(), {
        redirects: redirects(new ProbeFailure('refused', 'b.example refuses.'), ['a', 'b']),
      }),
      'example.com answers here, but its redirects fail: b.example refuses.',
    ],
    [
      'to a private address, at once',
      contextFor('example.com'),
      observed(apex(), {
        redirects: redirects(
          new ProbeFailure('private_address', 'http://10.0.0.1/ leads to a private address.'),
          ['http://example.com/'],
          'http://10.0.0.1/',
        ),
      }),
      'example.com answers here, but its redirects fail: http://10.0.0.1/ leads to a private address.',
    ],
    [
      'no answer at all is for others to tell',
      contextFor('example.com'),
      observed(apex(), {
        redirects: {
          urls: ['http://example.com/'],
          last: null,
          failure: new ProbeFailure('timeout', 'It did not answer.'),
        },
      }),
      'example.com answers here over HTTPS.',
    ],
    [
      'fine now, but CAA forbids the authority',
      contextFor('example.com', { sslReason: 'An older reason.' }),
      observed(apex(), { caaRefusal: 'The CAA records of example.com allow only x.example; add y.' }),
      'example.com answers here over HTTPS, but its certificate cannot be renewed: The CAA records of example.com allow only x.example; add y.',
    ],
    [
      'fine now, but CAA cannot be looked up',
      contextFor('example.com'),
      observed(apex({ caaFailed: true })),
      'example.com answers here over HTTPS, but its certificate cannot be renewed: The CAA records of example.com cannot be looked up, so no authority may issue a certificate; fix its name servers.',
    ],
    [
      'self-signed, and CAA cannot be looked up',
      contextFor('example.com'),
      selfSigned({ findings: apex({ caaFailed: true }) }),
      'The CAA records of example.com cannot be looked up, so no authority may issue a certificate; fix its name servers.',
    ],
    [
      'self-signed, no authority',
      contextFor('example.com', { hasAuthority: false }),
      selfSigned(),
      'example.com answers here with a self-signed certificate, which browsers warn about; the operator must configure a certificate authority.',
    ],
    [
      'self-signed, an order is under way',
      contextFor('example.com'),
      selfSigned(),
      'example.com answers here with a self-signed certificate until the authority has issued one; check again in a few minutes.',
    ],
    [
      'self-signed, the authority refused',
      contextFor('example.com', { sslReason: 'Too many orders for example.com.' }),
      selfSigned(),
      'example.com answers here, but with a self-signed certificate, which browsers warn about: Too many orders for example.com.',
    ],
    [
      'CAA forbids the authority',
      contextFor('example.com', { sslReason: 'An older reason.' }),
      selfSigned({ caaRefusal: 'The CAA records of example.com allow only x.example; add y.' }),
      'The CAA records of example.com allow only x.example; add y.',
    ],
    [
      'expired',
      contextFor('example.com'),
      observed(apex(), {
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
      contextFor('example.com', { sslReason: 'The authority said no.' }),
      observed(apex(), {
        tls: { status: 'failed', certificate: null, failure: { problem: 'wrong_name', sentence: 'x' } },
      }),
      'example.com answers here, but with a certificate for another name: The authority said no.',
    ],
  ]);
});

it('says so if nothing was observed in time', () => {
  expect(resultSentence(contextFor('example.com'), NO_OBSERVATION)).toBe(
    'example.com could not be looked up in time; request another report.',
  );
});
