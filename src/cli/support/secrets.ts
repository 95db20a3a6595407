import { isSecretName } from './secret-names.ts';

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

export const REMOVED = '[removed]';
/** Shorter ones appear by chance, such as a password of a test. */
const SHORTEST = 4;

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** A pattern, and what stays of its match. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // JSON Web Tokens.
  [/(?<![\w-])eyJ[\w-]+\.[\w.-]+/g, REMOVED],
  [/\b(basic|bearer)\s+[A-Za-z0-9+/=._~-]{6,}/gi, `$1 ${REMOVED}`],
];

// Their time grows with the text, also if it is one line: each begins at a sign or at the begin of a word.

/** All from the begin of an address until its last `@`, and until its first one. */
const ADDRESS = /:\/\/([^\s"'<>\\]{1,256})@/g;
const USER = /:\/\/[^\s/"'@]+@/g;
/** The end of a text before an address. Paths of these schemes have an `@`, such as that of a package. */
const WITH_PATHS = /(?<![a-z])(https?|wss?)$/i;
const OF_FILES = /(?<![a-z])(file|node)$/i;

/** The name of a member of JSON (also in a text of JSON), a parameter, a variable, a header, or an option of a program. */
const NAMED = /(?<![\w-])(?:(--[\w-]+)([ \t]+)|([\w-]+)(\\*["']?[ \t]*(?:=>|[=:])[ \t]*))/g;
/** Its value: in quotation marks, which a text of JSON escapes; a list; or a word. */
const VALUE = /(\\*)(["'])(?:[^\n]*?(?<!\\)\1\2|[^\n]*)|[[{][^\]}\n]*[\]}]?|(?:\\\\|[^\s"'&\\])+/y;
/** Values of headers have several words. */
const HEADER = /authori[sz]ation|cookie/i;
const HEADER_VALUE = /[^"'\\\n]+/y;

/** Random secrets of Homeport and of others: long words of base64. Ids and checksums stay. */
const LONG_WORD = /(?<![A-Za-z0-9_/+-])[A-Za-z0-9_/+-]{28,}={0,2}(?![A-Za-z0-9_/+-])/g;
const LONG = 28;
/** In a path, where other parts are plain words. */
const LONG_IN_PATH = 16;

/** Removes the secrets that are known, in each form that they may have, and what looks like one. */
export function redactor(known: readonly string[]): Redact {
  // The longest first, because one can contain another.
  const texts = [...new Set(known.flatMap(formsOf))]
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    // Whole keys first: the known key of one would take the begin of another.
    let rest = text.replace(PRIVATE_KEY, REMOVED);
    for (const secret of texts) rest = rest.replaceAll(secret, REMOVED);
    rest = rest.replace(ADDRESS, withoutUser).replace(USER, `://${REMOVED}@`);
    for (const [pattern, stays] of PATTERNS) rest = rest.replace(pattern, stays);
    return withoutNamed(rest).replace(LONG_WORD, withoutRandom);
  };
}

function formsOf(secret: string): string[] {
  const encoded = [encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)];
  return [
    secret,
    ...encoded,
    ...encoded.map((one) => one.replace(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase())),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}

/** Passwords in addresses may have an `@` or a slash that is not encoded, which is why the address did not work. */
function withoutUser(all: string, rest: string, at: number, text: string): string {
  const before = text.slice(Math.max(0, at - 8), at);
  const [authority = ''] = rest.split(/[/?#]/, 1);
  const hasPassword =
    !authority.startsWith('[') &&
    authority.includes(':') &&
    // A port.
    !(WITH_PATHS.test(before) && /^[^:@]*:\d{1,5}$/.test(authority));
  return hasPassword && !OF_FILES.test(before) ? `://${REMOVED}@` : all;
}

/** Removes the values of names of secrets. */
function withoutNamed(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const found of text.matchAll(NAMED)) {
    const [all, option, , name = option ?? '', sign = ' '] = found;
    const begin = found.index + all.length;
    if (begin < at || !isSecretName(name, sign)) continue;
    const { end, mark } = valueAt(text, begin, name);
    if (end === begin) continue;
    parts.push(text.slice(at, begin), mark, REMOVED, mark);
    at = end;
  }
  return `${parts.join('')}${text.slice(at)}`;
}

/** The end of a value that begins at `begin`, which is `begin` for one that is no secret, and its quotation mark. */
function valueAt(text: string, begin: number, name: string): { end: number; mark: string } {
  VALUE.lastIndex = begin;
  const [value = '', slashes = '', quote = ''] = VALUE.exec(text) ?? [];
  const mark = `${slashes}${quote}`;
  const isWord = quote === '' && !/^[[{]/.test(value);
  if (isWord && /^(null|true|false)\b/.test(value)) return { end: begin, mark };
  if (!isWord || !HEADER.test(name)) return { end: begin + value.length, mark };
  HEADER_VALUE.lastIndex = begin;
  return { end: begin + (HEADER_VALUE.exec(text)?.[0].length ?? 0), mark };
}

function withoutRandom(word: string): string {
  const segments = word.split('/');
  if (segments.length === 1) return isRandom(word) ? REMOVED : word;
  const plain = segments.filter((one) => /^([a-z0-9_-]*|[A-Z][a-z]+)$/.test(one));
  if (plain.length * 2 < segments.length) return isRandom(word) ? REMOVED : word;
  return segments.map((one) => (one.length >= LONG_IN_PATH && isRandom(one) ? REMOVED : one)).join('/');
}

/** Has small and capital letters and digits; or no digit, and more capitals than names of functions. */
function isRandom(word: string): boolean {
  const count = (pattern: RegExp) => word.match(pattern)?.length ?? 0;
  const [small, capital, digits] = [count(/[a-z]/g), count(/[A-Z]/g), count(/\d/g)];
  if (small === 0 || capital === 0) return false;
  return digits > 0 || (word.length >= LONG && Math.min(small, capital) * 4 > word.length);
}
