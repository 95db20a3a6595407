import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes. Nearly all are UTF-8 and are archived unchanged. For the others (from old FTP programs), the manifest keeps the
 * bytes, and the archive a readable, percent-encoded substitute.
 */
export interface ArchivedName {
  text: string;
  /** The bytes in base64, only if `text` does not represent them. */
  base64?: string;
}

export function archivedName(name: Buffer): ArchivedName {
  if (isUtf8(name)) return { text: name.toString('utf8') };
  const text = name.toString('latin1').replace(/[^ -~]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return { text, base64: name.toString('base64') };
}

export function nameBytes(text: string, base64: string | undefined): Buffer {
  return base64 === undefined ? Buffer.from(text, 'utf8') : Buffer.from(base64, 'base64');
}

/** Quotes a path for an error message or log line, escaping control characters. */
export function quoted(path: Buffer): string {
  return JSON.stringify(archivedName(path).text);
}
