import { decodePunycode } from './punycode.ts';

const ENCODED = 'xn--';

/**
 * Returns an internationalised domain in Unicode, followed by its ASCII form: `büro.example (xn--bro-hoa.example)`.
 * Both are shown because letters of different scripts look alike. Other domains are returned unchanged.
 */
export function displayName(name: string): string {
  const unicode = unicodeOf(name);
  return unicode === null ? name : `${unicode} (${name})`;
}

/** Returns the Unicode form; null if it equals the name or if the browser would resolve it to another name. */
function unicodeOf(name: string): string | null {
  const labels = name.split('.').map((label) => {
    return label.startsWith(ENCODED) ? decodePunycode(label.slice(ENCODED.length)) : label;
  });
  if (labels.includes(null)) return null;
  const unicode = labels.join('.');
  return unicode !== name && hostNameOf(unicode) === name ? unicode : null;
}

/** Returns the ASCII form. The wildcard is kept aside because it is not part of a host name. */
function hostNameOf(name: string): string | null {
  const wildcard = name.startsWith('*.') ? '*.' : '';
  try {
    return wildcard + new URL(`http://${name.slice(wildcard.length)}/`).hostname;
  } catch {
    return null;
  }
}
