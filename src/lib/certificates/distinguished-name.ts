/** The values of each attribute of a name, in order: `CN`, `O` and so on, or an object identifier. */
export type DistinguishedName = ReadonlyMap<string, readonly string[]>;

/**
 * Parses `subject` or `issuer` of Node's X509Certificate: one line for each part, with the escapes of RFC 4514. `toLegacyObject` would have
 * done so, but it crashes if the key is on a curve without a NIST name (Node 24.21).
 */
export function parseDistinguishedName(text: string | undefined): DistinguishedName {
  const found = new Map<string, string[]>();
  for (const part of (text ?? '').split('\n').flatMap((line) => line.split(' + '))) {
    const at = part.indexOf('=');
    if (at === -1) continue;
    const name = part.slice(0, at);
    const values = found.get(name) ?? [];
    values.push(unescaped(part.slice(at + 1)));
    found.set(name, values);
  }
  return found;
}

/** Bytes of UTF-8 in hexadecimal, or one character. */
const ESCAPE = /((?:\\[0-9A-Fa-f]{2})+)|\\(.)/gs;

function unescaped(value: string): string {
  return value.replace(ESCAPE, (_all, bytes: string | undefined, character: string | undefined) =>
    bytes === undefined ? (character ?? '') : Buffer.from(bytes.replaceAll('\\', ''), 'hex').toString('utf8'),
  );
}
