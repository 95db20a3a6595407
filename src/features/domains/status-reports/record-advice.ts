import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { getDomain } from '../../../lib/public-suffixes.ts';
import type { NameFindings } from '../../../network/dns/look-up.ts';
import type { DnsTarget } from './domain-context.ts';

/** The records of a name that decide where visitors go. */
export interface PresentRecords {
  cname: string | null;
  a: string[];
  aaaa: string[];
}

/** Advice to change a record. */
export interface RecordAdvice {
  /** 'Set the A record of example.com to 203.0.113.5' */
  what: string;
  /** 'it is 198.51.100.7 now'; null without a present record. */
  now: string | null;
}

/** The records at the name servers, or those of the resolver if unknown. Caches may be outdated. */
export function presentRecords({ authoritative, cnames, a, aaaa }: NameFindings): PresentRecords {
  if (authoritative) return authoritative;
  return {
    cname: cnames[0] ?? null,
    a: a.map(({ address }) => address),
    aaaa: aaaa.map(({ address }) => address),
  };
}

/** Whether the records are as advised. Other records may work too, such as a CDN's; the token shows that. */
export function leadsHere(present: PresentRecords, findings: NameFindings, target: DnsTarget): boolean {
  if (present.cname === target.cname) return true;
  const addresses =
    present.cname === null
      ? [...present.a, ...present.aaaa]
      : [...findings.a, ...findings.aaaa].map(({ address }) => address);
  return addresses.length > 0 && addresses.every((address) => isOwnAddress(address, target));
}

export function isOwnAddress(address: string, { addresses }: Pick<DnsTarget, 'addresses'>): boolean {
  return addresses.some((own) => canonical(own) === canonical(address));
}

/** '203.0.113.5', or 'this platform' if its addresses are not configured. */
export function edgeLabel({ addresses }: DnsTarget): string {
  return addresses.length > 0 ? listed(addresses) : 'this platform';
}

/** IPv6 addresses can be written in many ways. */
function canonical(address: string): string {
  return isIP(address) === 0 ? address : ipaddr.parse(address).toString();
}

/** A zone apex or registered domain, which cannot have a CNAME (RFC 1912 section 2.4). */
function isApex({ name, zone }: Pick<NameFindings, 'name' | 'zone'>): boolean {
  return zone === name || getDomain(name, { validateHostname: false }) === name;
}

/** Advises which records the name should have instead of the present ones. */
export function recordAdvice(findings: NameFindings, target: DnsTarget): RecordAdvice {
  const { name } = findings;
  const present = presentRecords(findings);
  // A CNAME excludes all other records, and mail should still arrive.
  const hasOthers = present.cname === null && findings.mx.length + findings.txt.length > 0;
  if (!isApex(findings) && !hasOthers) return cnameAdvice(name, present, target.cname);
  if (target.addresses.length > 0) return addressAdvice(name, present, target);
  return {
    what: `Set an ALIAS record (also called ANAME) of ${name} to ${target.cname}`,
    now: nowOf([...present.a, ...present.aaaa]),
  };
}

function cnameAdvice(name: string, { cname, a, aaaa }: PresentRecords, target: string): RecordAdvice {
  if (cname !== null) {
    return { what: `Set the CNAME of ${name} to ${target}`, now: `it points to ${cname} now` };
  }
  const others = [...named('A', a), ...named('AAAA', aaaa)];
  return others.length > 0
    ? { what: `Set the CNAME of ${name} to ${target} in place of its ${listed(others)}`, now: null }
    : { what: `Create the CNAME record of ${name} with the value ${target}`, now: null };
}

function addressAdvice(name: string, { cname, a, aaaa }: PresentRecords, target: DnsTarget): RecordAdvice {
  const changes = [
    ...familyChange('A', a, addressesOfFamily(4, target), target),
    ...familyChange('AAAA', aaaa, addressesOfFamily(6, target), target),
  ];
  const [first, second] = changes;
  if (cname !== null) {
    const [wanted] = target.addresses;
    const type = isIP(wanted ?? '') === 6 ? 'AAAA' : 'A';
    return {
      what: `Remove the CNAME of ${name} and set its ${type} record to ${wanted}`,
      now: `it points to ${cname} now`,
    };
  }
  if (first === undefined) {
    const wanted = addressesOfFamily(4, target);
    const [type, values] = wanted.length > 0 ? ['A', wanted] : ['AAAA', addressesOfFamily(6, target)];
    return { what: `Create the ${type} record of ${name} with the value ${listed([...values])}`, now: null };
  }
  if (second === undefined) {
    return first.wanted.length > 0 ? replacement(name, first) : removal(name, first.type, first.stray);
  }
  const half = ({ type, wanted, stray }: FamilyChange, owner: string) =>
    wanted.length > 0
      ? `set ${owner.replace('?', type)} to ${listed(wanted)} (now ${listed(stray)})`
      : `remove ${owner.replace('?', type)} ${listed(stray)}`;
  const text = `${half(first, `the ? record of ${name}`)} and ${half(second, 'its ? record')}`;
  return { what: `${text.charAt(0).toUpperCase()}${text.slice(1)}`, now: null };
}

/** 'Remove the AAAA record 2001:db8::1 of example.com' */
export function removal(name: string, type: 'A' | 'AAAA', stray: string[]): RecordAdvice {
  const [one, it] = stray.length > 1 ? [`${type} records`, 'they lead'] : [`${type} record`, 'it leads'];
  return { what: `Remove the ${one} ${listed(stray)} of ${name}`, now: `${it} elsewhere` };
}

/** 'Set the A record of example.com to 203.0.113.5', 'it is 198.51.100.7 now' */
export function replacement(name: string, { type, wanted, stray }: FamilyChange): RecordAdvice {
  return { what: `Set the ${type} record of ${name} to ${listed(wanted)}`, now: nowOf(stray) };
}

interface FamilyChange {
  type: 'A' | 'AAAA';
  wanted: string[];
  stray: string[];
}

/** Leaves a family alone if it is empty or none of its addresses lead elsewhere. */
function familyChange(
  type: FamilyChange['type'],
  has: string[],
  wanted: string[],
  target: DnsTarget,
): FamilyChange[] {
  const stray = has.filter((address) => !isOwnAddress(address, target));
  if (stray.length === 0) return [];
  // If one address is already right, removing the others is enough.
  return [{ type, stray, wanted: stray.length < has.length ? [] : wanted }];
}

export function addressesOfFamily(family: 4 | 6, { addresses }: DnsTarget): string[] {
  return addresses.filter((address) => isIP(address) === family);
}

function named(type: string, addresses: string[]): string[] {
  return addresses.length === 0
    ? []
    : [`${type} record${addresses.length > 1 ? 's' : ''} ${listed(addresses)}`];
}

function nowOf(addresses: string[]): string | null {
  if (addresses.length === 0) return null;
  return `${addresses.length > 1 ? 'they are' : 'it is'} ${listed(addresses)} now`;
}

const SHOWN = 4;

/** 'a, b and c'; a long list is cut. */
export function listed(items: string[]): string {
  const shown = items.slice(0, SHOWN);
  const rest = items.length > SHOWN ? [`${items.length - SHOWN} more`] : [];
  const all = [...shown, ...rest];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}
