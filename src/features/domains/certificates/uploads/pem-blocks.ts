/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  /** For example `CERTIFICATE`. */
  label: string;
  /** With its first and last line. */
  text: string;
  /** The block says that it needs a passphrase. */
  isEncrypted: boolean;
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,64})-----$/;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;
const MARK = '-----BEGIN ';

/**
 * The blocks of a PEM text, in order. Text around them is ignored, as tools write comments there. A PEM text in Base64
 * counts as that text, because clients of version 1.17 send it so. A block without its last line is left out.
 */
export function pemBlocks(given: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | null = null;
  for (const line of decoded(given).split(/\r\n|\r|\n/)) {
    const trimmed = line.trim();
    const label = BEGIN.exec(trimmed)?.[1];
    if (label !== undefined) open = { label, lines: [trimmed] };
    else if (open !== null) {
      open.lines.push(trimmed);
      if (trimmed !== `-----END ${open.label}-----`) continue;
      blocks.push({
        label: open.label,
        text: `${open.lines.join('\n')}\n`,
        // RFC 1421 section 4.6.1.1, as OpenSSL writes PKCS#1 and SEC1 keys with a passphrase.
        isEncrypted:
          open.label === 'ENCRYPTED PRIVATE KEY' ||
          open.lines.some((text) => /^Proc-Type:.*ENCRYPTED/i.test(text)),
      });
      open = null;
    }
  }
  return blocks;
}

function decoded(given: string): string {
  if (given.includes(MARK) || !BASE64.test(given)) return given;
  const text = Buffer.from(given, 'base64').toString('utf8');
  return text.includes(MARK) ? text : given;
}
