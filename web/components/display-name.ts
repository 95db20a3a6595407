import { decodePunycode } from './punycode.ts';

const ENCODED = 'xn--';

/**
 * A domain as people write it, and how the DNS has it behind that: `büro.example (xn--bro-hoa.example)`; both, since letters of
 * several scripts look alike. Others as they are.
 */
export function displayName(name: string): string {
  const unicode = unicodeOf(name);
  return unicode === null ? name : `${unicode} (${name})`;
}

/** Null where it is no other, or where the browser would not take it for the same name. */
function unicodeOf(name: string): string | null {
  const labels = name.split('.').map((label) => {
    return label.startsWith(ENCODED) ? decodePunycode(label.slice(ENCODED.length)) : label;
  });
  if (labels.includes(null)) return null;
  const unicode = labels.join('.');
  return unicode !== name && hostNameOf(unicode) === name ? unicode : null;
}

/** In the form of the DNS; a wildcard is no host name. */
function hostNameOf(name: string): string | null {
  const wildcard = name.startsWith('*.') ? '*.' : '';
  try {
    return wildcard + new URL(`http://${name.slice(wildcard.length)}/`).hostname;
  } catch {
    return null;
  }
}
