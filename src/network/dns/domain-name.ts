/** Lower case where DNS sees no difference, which is in ASCII alone (RFC 4343); without the final dot. */
export function canonicalName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

const LABEL = /^[!-[\]-~]{1,63}$/;

/** Can this be asked for? (RFC 1035 section 2.3.4: labels of 1 to 63 bytes, 253 characters in all; ASCII without escapes.) */
export function isAskable(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => LABEL.test(label));
}

/** Is `name` the zone, or below it? '' is the root. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`);
}

/** The name with its first label taken off; '' is the root. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot === -1 ? '' : name.slice(dot + 1);
}

/** `localhost` and what is below it are this machine, and nobody is asked (RFC 6761 section 6.3). */
export function isLocalhost(name: string): boolean {
  return isWithin(canonicalName(name), 'localhost');
}
