/** Removes secrets from a text. */
export type Redact = (text: string) => string;

const REMOVED = '[removed]';
/** Shorter ones appear by chance, such as a password of a test. */
const SHORTEST = 4;
const NAMES =
  'password|passwd|passphrase|secret|token|authorization|cookie|api[-_]?key|private[-_]?key|sealing[-_]?key|signature|credential|credentials';

/** A pattern, and what stays of its match. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REMOVED],
  // User names and passwords in addresses.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/"'@]+@/gi, `$1${REMOVED}@`],
  // JSON Web Tokens.
  [/\beyJ[\w-]+\.[\w.-]+/g, REMOVED],
  [/\b(basic|bearer)\s+[A-Za-z0-9+/=._~-]{6,}/gi, `$1 ${REMOVED}`],
  // Members of JSON, parameters of addresses, and assignments.
  [new RegExp(`("(?:[\\w-]*[_-])?(?:${NAMES})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `$1"${REMOVED}"`],
  [new RegExp(`((?:[\\w-]*[_-])?(?:${NAMES})\\s*[=:]\\s*)[^\\s"',;&\\\\]+`, 'gi'), `$1${REMOVED}`],
];

/** Random secrets of Homeport and of others: long words of base64. Ids and checksums stay. */
const RANDOM = /(?<![A-Za-z0-9_/+-])[A-Za-z0-9_/+-]{28,}={0,2}(?![A-Za-z0-9_/+-])/g;
const isRandom = (word: string): boolean =>
  /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) && !word.includes('/home') && !/^\//.test(word);

/** Removes the secrets that are known, in each form that they may have, and what looks like one. */
export function redactor(known: readonly string[]): Redact {
  const forms = new Set(
    known.flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('base64url'),
    ]),
  );
  // The longest first, because one can contain another.
  const texts = [...forms].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
  return (text) => {
    let rest = text;
    for (const secret of texts) rest = rest.replaceAll(secret, REMOVED);
    for (const [pattern, stays] of PATTERNS) rest = rest.replace(pattern, stays);
    return rest.replace(RANDOM, (word) => (isRandom(word) ? REMOVED : word));
  };
}
