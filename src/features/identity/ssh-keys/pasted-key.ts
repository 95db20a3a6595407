/** The beginning of a key in an OpenSSH file, anywhere in a text: its type and the first characters of every key. */
export const KEY_START = /(?<![^\s,])(?:ssh-|ecdsa-sha2-|sk-)\S{1,60}[ \t]+AAAA/;

const RFC_4716 = /^---- BEGIN SSH2 PUBLIC KEY ----\r?\n([\s\S]+?)\r?\n---- END SSH2 PUBLIC KEY ----$/;
/** Longest header tag of RFC 4716 section 3.3. */
const HEADER = /^([^\s:]{1,64}): ?(.*)$/;

/**
 * The line of a key in a text that a user pasted: without comments, in one line again if a program wrapped it, and from the form of
 * RFC 4716. Other texts come back as they are, without surrounding white space.
 */
export function keyLineOf(text: string): string {
  const trimmed = text.trim();
  const framed = RFC_4716.exec(trimmed)?.[1];
  if (framed !== undefined) return lineOfFramed(framed.split(/\r?\n/)) ?? trimmed;
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  const [first = '', ...rest] = lines;
  const isWrapped = rest.length > 0 && KEY_START.test(first) && !rest.some((line) => KEY_START.test(line));
  return isWrapped ? unwrapped(first, rest) : lines.join('\n').trim();
}

/** The base64 of a key ends at its padding or at a space, and the comment follows. */
function unwrapped(first: string, rest: readonly string[]): string {
  return rest.reduce((line, next) => {
    const isWhole = /[ \t]AAAA[A-Za-z0-9+/]+(?:=+|[ \t].*)$/.test(line);
    const goesOn = /^[A-Za-z0-9+/]+=*(?:[ \t]|$)/.test(next.trim());
    return !isWhole && goesOn ? line + next.trim() : `${line} ${next.trim()}`;
  }, first.trim());
}

/** Null if the body is no key. */
function lineOfFramed(lines: readonly string[]): string | null {
  let comment = '';
  let at = 0;
  for (; at < lines.length; at += 1) {
    const [, tag, value = ''] = HEADER.exec(lines[at] ?? '') ?? [];
    if (tag === undefined) break;
    let whole = value;
    // A backslash continues a header in the next line.
    while (whole.endsWith('\\') && at + 1 < lines.length) whole = whole.slice(0, -1) + (lines[++at] ?? '');
    if (tag.toLowerCase() === 'comment') comment = whole.trim().replace(/^"(.*)"$/, '$1');
  }
  const encoded = lines.slice(at).join('').trim();
  const blob = Buffer.from(encoded, 'base64');
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0);
  const type = blob.subarray(4, 4 + length).toString('latin1');
  return /^[a-z0-9@.-]{1,64}$/.test(type) ? `${type} ${encoded} ${comment}`.trim() : null;
}
