import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { timeAt } from './log-line.ts';

/** Bits of an address that stay, as Matomo and others shorten addresses by default: a network, but no household. */
const KEPT_BITS = { ipv4: 24, ipv6: 48 };

/** The address without its last part; `unknown` if it is not an address. */
export function shortenAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  const kind = parsed.kind();
  const bytes = parsed.toByteArray().map((byte, index) => (index * 8 < KEPT_BITS[kind] ? byte : 0));
  return ipaddr.fromByteArray(bytes).toString();
}

/** The address as it is logged: in its shortest form, so that its shortened form is never longer. */
export function canonicalAddress(address: string): string {
  // Such an address is in its only form already, and most are.
  if (isIPv4(address)) return address;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : 'unknown';
}

const ADDRESS = /^\{"time":"[^"]{24}","address":("[0-9a-f.:]+" *)/;
/** Long enough for the beginning of a line up to its address. */
const HEAD = 128;
const LINE_FEED = 0x0a;

/**
 * Shortens the addresses of the lines before `before` (milliseconds), up to the first later line. Spaces keep the length of each
 * line, so that it can be written in its place. Returns the bytes of the lines that are done.
 */
export function shortenAddresses(lines: Buffer, before: number): { done: number; changed: boolean } {
  let changed = false;
  let start = 0;
  while (start < lines.length) {
    const end = lines.indexOf(LINE_FEED, start) + 1;
    if (end === 0 || timeAt(lines, start) >= before) break;
    if (shortenLine(lines, start, end)) changed = true;
    start = end;
  }
  return { done: start, changed };
}

function shortenLine(lines: Buffer, start: number, end: number): boolean {
  const head = lines.toString('latin1', start, Math.min(end, start + HEAD));
  const [whole, present] = ADDRESS.exec(head) ?? [];
  if (whole === undefined || present === undefined) return false;
  const address = present.slice(1, present.lastIndexOf('"'));
  const shortened = `"${shortenAddress(address)}"`.padEnd(present.length);
  if (shortened === present || shortened.length > present.length) return false;
  lines.write(shortened, start + whole.length - present.length, 'latin1');
  return true;
}
