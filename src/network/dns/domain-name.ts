import { MAX_HOST_NAME } from '../../lib/host-names.ts';

/** The name without a final dot, in lower case. DNS ignores case only in ASCII (RFC 4343). */
export function canonicalName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

const LABEL = /^[!-[\]-~]{1,63}$/;

/** Whether a name can be queried: ASCII without escapes, labels of 1 to 63 bytes, 253 in all (RFC 1035 section 2.3.4). */
export function isAskable(name: string): boolean {
  return name.length <= MAX_HOST_NAME && name.split('.').every((label) => LABEL.test(label));
}

/** Whether `name` is the zone or below it; '' is the root. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`);
}

/** The name without its first label; '' is the root. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1);
}

/** Whether a name is `localhost` or below it, which is this machine without a query (RFC 6761 section 6.3). */
export function isLocalhost(name: string): boolean {
  return isWithin(canonicalName(name), 'localhost');
}
