import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges of addresses as an edge compares them: `[first, last]` in hexadecimal digits of equal length, sorted and disjoint. */
export interface AddressRanges {
  ipv4: [first: string, last: string][];
  ipv6: [first: string, last: string][];
}

/** The widest ranges that can be blocked, in bits of the prefix: an eighth of a continent's addresses is a mistake. */
export const WIDEST = { ipv4: 8, ipv6: 16 };

const BITS = { ipv4: 32, ipv6: 128 };

interface ParsedRange {
  kind: 'ipv4' | 'ipv6';
  first: string;
  last: string;
  bits: number;
  /** `192.0.2.0/24`; a single address has no prefix length. */
  text: string;
}

/** The range in its usual form, such as `192.0.2.0/24`, or a single address without `/32`. Null if the text is no range. */
export function normalizedRange(text: string): string | null {
  return parsedRange(text)?.text ?? null;
}

/** Why a range cannot be used; undefined if it can. */
export function faultOfRange(text: string): { code: string; message: string } | undefined {
  const range = parsedRange(text);
  if (range === null) {
    return {
      code: 'invalid_format',
      message: 'Give an IP address such as 192.0.2.7 or 2001:db8::7, or a range such as 192.0.2.0/24',
    };
  }
  const widest = WIDEST[range.kind];
  if (range.bits < widest) {
    return {
      code: 'too_wide',
      message: `${range.text} has too many addresses; the widest range is /${widest}. A password keeps everyone out`,
    };
  }
}

/** The ranges in their usual form, sorted, without those inside another. Throws if a text is no range. */
export function mergedRanges(texts: readonly string[]): string[] {
  return disjoint(texts).map(({ text }) => text);
}

/** The ranges for an edge. Throws if a text is no range. */
export function addressRanges(texts: readonly string[]): AddressRanges {
  const ranges: AddressRanges = { ipv4: [], ipv6: [] };
  for (const { kind, first, last } of disjoint(texts)) ranges[kind].push([first, last]);
  return ranges;
}

/** Whether an address, such as a socket's `remoteAddress`, is in one of the ranges. An IPv4 address may be inside an IPv6 address. */
export function isInRanges(ranges: AddressRanges, address: string | undefined): boolean {
  if (ranges.ipv4.length + ranges.ipv6.length === 0) return false;
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const digits = hex(parsed.toByteArray());
  const of = ranges[parsed.kind()];
  let low = 0;
  let high = of.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [first, last] = of[middle] ?? ['', ''];
    if (digits < first) high = middle;
    else if (digits > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** IPv4 first. Two ranges are disjoint, or one contains the other. */
function disjoint(texts: readonly string[]): ParsedRange[] {
  const parsed = texts.map((text) => {
    const range = parsedRange(text);
    if (range === null) throw new Error(`"${text}" is not a range of addresses`);
    return range;
  });
  parsed.sort((a, b) => compare(a.kind, b.kind) || compare(a.first, b.first) || a.bits - b.bits);
  const kept: ParsedRange[] = [];
  for (const range of parsed) {
    const before = kept.at(-1);
    if (before?.kind !== range.kind || before.last < range.first) kept.push(range);
  }
  return kept;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function parsedRange(text: string): ParsedRange | null {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  // Without the historical forms, such as octal digits, and without zones.
  if (!isIPv4(address) && !(isIPv6(address) && !address.includes('%'))) return null;
  const given = ipaddr.parse(address);
  const parsed = ipaddr.process(address);
  const kind = parsed.kind();
  const shift = given.kind() === kind ? 0 : BITS.ipv6 - BITS.ipv4;
  const bits = length === undefined ? BITS[kind] : Number(length) - shift;
  if (bits < 0 || bits > BITS[kind]) return null;
  const first = parsed.toByteArray().map((byte, at) => byte & maskOf(bits, at));
  const last = first.map((byte, at) => byte | (0xff & ~maskOf(bits, at)));
  const base = ipaddr.fromByteArray(first).toString();
  return {
    kind,
    bits,
    first: hex(first),
    last: hex(last),
    text: bits === BITS[kind] ? base : `${base}/${bits}`,
  };
}

/** The bits of the byte at that place that belong to the prefix. */
function maskOf(bits: number, at: number): number {
  const within = Math.min(8, Math.max(0, bits - at * 8));
  return (0xff << (8 - within)) & 0xff;
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
