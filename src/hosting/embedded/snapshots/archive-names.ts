import { isUtf8 } from 'node:buffer';

/**
 * Names of files are bytes. Nearly all are UTF-8 and stand in an archive as they are; of the others (left by old FTP
 * programs) the manifest keeps the bytes, and the archive a readable stand-in in which they are percent-encoded.
 */
export interface ArchivedName {
  text: string;
  /** The bytes in base64, only where `text` does not have them. */
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

/** A path for an error message or a log line: quoted, so that no control character gets there. */
export function quoted(path: Buffer): string {
  return JSON.stringify(archivedName(path).text);
}
