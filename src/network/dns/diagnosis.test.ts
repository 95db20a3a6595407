import { describe, expect, it } from 'vitest';
import type { CnameChain } from './cname-chain.ts';
import { type AddressOutcome, diagnose, staleSeconds } from './diagnosis.ts';
import type { DnsRecord } from './record.ts';

const name = 'www.example.test';
const hdr = (owner: string, ttl: number) => ({ name: owner, rrtype: 1, class: 1, ttl, rdlength: 4 });

interface Seen {
  rcode?: string;
  cname?: string;
  cnameTtl?: number;
  a?: string[];
  ttl?: number;
  negativeTtl?: number;
  loop?: string[];
  isTooLong?: boolean;
}

function seen({
  rcode = 'NOERROR',
  cname,
  cnameTtl = 60,
  a = [],
  ttl = 60,
  negativeTtl,
  loop,
  isTooLong = false,
}: Seen): AddressOutcome {
  const end = cname ?? name;
  const cnames: CnameChain['cnames'] =
    cname === undefined ? [] : [{ type: 'CNAME', hdr: hdr(name, cnameTtl), target: cname }];
  const soa: DnsRecord[] =
    negativeTtl === undefined
      ? []
      : [
          {
            type: 'SOA',
            hdr: hdr('example.test', negativeTtl),
            ns: '',
            mbox: '',
            serial: 1,
            refresh: 1,
            retry: 1,
            expire: 1,
            minttl: 3600,
          },
        ];
  const answers: DnsRecord[] = [
    ...cnames,
    ...a.map((address) => ({ type: 'A' as const, hdr: hdr(end, ttl), address })),
  ];
  const server = { host: '127.0.0.1', port: 53 };
  const answer = { server, rcode, authoritative: false, answers, authorities: soa, additionals: [] };
  return { kind: 'chain', chain: { cnames, end, loop: loop ?? null, isTooLong, answer } };
}

describe('problemOf', () => {
  const judge = (outcomes: AddressOutcome[], more: { zone?: string | null; lameServers?: string[] } = {}) =>
    diagnose({ name, zone: 'example.test', outcomes, unregistered: false, lameServers: [], ...more })?.kind ??
    null;
  const fails = seen({ rcode: 'SERVFAIL' });
  const timeout: AddressOutcome = { kind: 'timeout' };
  const unreachable: AddressOutcome = { kind: 'unreachable' };

  it.each<[string, AddressOutcome[], string | null]>([
    ['an address', [seen({ a: ['192.0.2.1'] }), seen({})], null],
    ['an address, though half the look-up failed', [seen({ a: ['192.0.2.1'] }), timeout], null],
    ['nothing of either type', [seen({}), seen({})], 'no_address'],
    ['one empty answer', [seen({}), timeout], 'timeout'],
    ['no answer', [timeout, timeout], 'timeout'],
    ['no route', [unreachable, unreachable], 'unreachable'],
    ['both of these', [unreachable, timeout], 'timeout'],
    ['a failure', [fails, timeout], 'servfail'],
    ['a refusal', [seen({ rcode: 'REFUSED' }), seen({})], 'resolver_error'],
    ['no such name', [seen({ rcode: 'NXDOMAIN' }), fails], 'nxdomain'],
    ['a CNAME for no name', [seen({ rcode: 'NXDOMAIN', cname: 'x.test' }), fails], 'dangling_cname'],
    ['a CNAME for no address', [seen({ cname: 'x.test' }), seen({ cname: 'x.test' })], 'dangling_cname'],
    ['a CNAME for a zone that fails', [seen({ cname: 'x.test', rcode: 'SERVFAIL' })], 'servfail'],
    ['a loop', [seen({ cname: 'x.test', loop: ['x.test'] }), fails], 'cname_loop'],
    ['a chain that is too long', [seen({ cname: 'x.test', isTooLong: true }), fails], 'long_cname_chain'],
    ['an answer to a query that was not understood', [seen({ rcode: 'FORMERR' })], 'resolver_error'],
  ])('%s', (_, outcomes, kind) => {
    expect(judge(outcomes)).toBe(kind);
  });

  it('recognises only a registered domain as an apex without seeing its zone', () => {
    const outcomes = [seen({ cname: 'x.test', a: ['192.0.2.1'] })];
    const kindOf = (asked: string) =>
      diagnose({ name: asked, zone: 'com', outcomes, unregistered: false, lameServers: [] })?.kind;
    expect(kindOf('example.com')).toBe('cname_at_apex');
    expect(kindOf('www.example.com')).toBe(undefined);
    expect(kindOf('example.test')).toBe(undefined);
  });

  it('reports a CNAME at the apex even if it leads to an address', () => {
    expect(judge([seen({ cname: 'x.test', a: ['192.0.2.1'] })], { zone: name })).toBe('cname_at_apex');
  });

  it('reports lame servers only if the resolver gets no answer from them', () => {
    const lame = { lameServers: ['ns1.example.test'] };
    expect(judge([fails, fails], lame)).toBe('lame');
    expect(judge([timeout, timeout], lame)).toBe('lame');
    expect(judge([seen({ a: ['192.0.2.1'] }), timeout], lame)).toBeNull();
    expect(judge([seen({ rcode: 'NXDOMAIN' })], lame)).toBe('nxdomain');
    expect(judge([fails, fails], { ...lame, zone: null })).toBe('servfail');
  });
});

describe('staleSeconds', () => {
  const zone = (more: { cname?: string; a?: string[] }) => ({
    servers: ['ns1.example.test'],
    cname: more.cname ?? null,
    a: more.a ?? [],
    aaaa: [],
  });

  it.each<[string, Seen, { cname?: string; a?: string[] }, number | null]>([
    ['the same', { a: ['192.0.2.1'], ttl: 9 }, { a: ['192.0.2.1'] }, null],
    ['some the same', { a: ['192.0.2.1', '192.0.2.2'] }, { a: ['192.0.2.2', '192.0.2.3'] }, null],
    ['another address', { a: ['192.0.2.1'], ttl: 9 }, { a: ['192.0.2.2'] }, 9],
    ['a removed address', { a: ['192.0.2.1'], ttl: 9 }, {}, 9],
    ['an address that is a CNAME now', { a: ['192.0.2.1'], ttl: 9 }, { cname: 'x.test' }, 9],
    ['the same CNAME', { cname: 'x.test', a: ['192.0.2.1'] }, { cname: 'x.test' }, null],
    ['another CNAME', { cname: 'x.test', cnameTtl: 7, a: ['192.0.2.1'], ttl: 99 }, { cname: 'y.test' }, 7],
    ['a new name', { rcode: 'NXDOMAIN', negativeTtl: 30 }, { a: ['192.0.2.1'] }, 30],
    ['a name that still does not exist', { rcode: 'NXDOMAIN', negativeTtl: 30 }, {}, null],
    ['a failure', { rcode: 'SERVFAIL' }, { a: ['192.0.2.1'] }, null],
  ])('%s', (_, resolver, now, seconds) => {
    expect(staleSeconds(name, [seen(resolver)], zone(now))).toBe(seconds);
  });
});
