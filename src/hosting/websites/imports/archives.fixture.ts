import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** Fields of zip. */
const UTF8_NAME = 0x800;
const DEFLATED = 8;
const UNIX = 3;
/** The first day of 2026. */
const DAY = (46 << 9) | (1 << 5) | 1;

export type Entry = Partial<Header> & { name: string } & { content?: string | Buffer };

export async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.finalize();
  return buffer(tar);
}

/** `mode`: of an entry made on Unix. Paths are written as they are. */
export function zipOf(entries: readonly { name: string; content: string | Buffer; mode?: number }[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, mode } of entries) {
    const [path, bytes] = [Buffer.from(name), Buffer.from(content)];
    const stored = deflateRawSync(bytes);
    const same = Buffer.alloc(26);
    same.writeUInt16LE(20, 0);
    same.writeUInt16LE(path.some((byte) => byte > 0x7f) ? UTF8_NAME : 0, 2);
    same.writeUInt16LE(DEFLATED, 4);
    same.writeUInt16LE(DAY, 8);
    same.writeUInt32LE(crc32(bytes), 10);
    same.writeUInt32LE(stored.length, 14);
    same.writeUInt32LE(bytes.length, 18);
    same.writeUInt16LE(path.length, 22);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(((mode ?? 0) << 16) >>> 0, 6);
    end.writeUInt32LE(at, 10);
    const made = Buffer.from([20, mode === undefined ? 0 : UNIX]);
    directory.push(Buffer.from('PK\x01\x02'), made, same, end, path);
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), same, path, stored]);
    bodies.push(body);
    at += body.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...bodies, list, Buffer.from('PK\x05\x06'), end]);
}

/** Of All-in-One WP Migration. */
export function wpressOf(entries: Record<string, string | Buffer>): Buffer {
  const parts = Object.entries(entries).flatMap(([path, content]) => {
    const header = Buffer.alloc(4377);
    const cut = path.lastIndexOf('/');
    header.write(path.slice(cut + 1), 0);
    header.write(String(Buffer.byteLength(content)), 255);
    header.write('1700000000', 269);
    header.write(cut < 0 ? '.' : path.slice(0, cut), 281);
    return [header, Buffer.from(content)];
  });
  return Buffer.concat([...parts, Buffer.alloc(4377)]);
}

/** Of Duplicator in its own format. */
export function dupArchiveOf(
  entries: Record<string, string | Buffer>,
  { isCompressed = true, pieceBytes = 1024 ** 2 } = {},
): Buffer {
  const parts = Object.entries(entries).flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    const length = Buffer.byteLength(path);
    const header = `<F><FS>${bytes.length}</FS><MT>1700000000</MT><P>0644</P><HA>00000000</HA><RPL>${length}</RPL><RP>${path}</RP></F>`;
    const pieces: Buffer[] = [Buffer.from(header)];
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      const stored = isCompressed ? deflateRawSync(piece) : piece;
      const mark = `<G><OS>${piece.length}</OS><SS>${stored.length}</SS><HA>00000000</HA></G>`;
      pieces.push(Buffer.from(mark), stored);
    }
    return pieces;
  });
  const folder = '<D><MT>1700000000</MT><P>0755</P><RPL>10</RPL><RP>wp-content</RP></D>';
  return Buffer.concat([Buffer.from(`<A><V>5.0.0</V><C>${isCompressed}</C></A>${folder}`), ...parts]);
}
