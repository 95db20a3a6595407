import type { ManifestEntry } from './archive-manifest.ts';

/** A part of a file that holds data. Between the parts are holes, which read as zeros. */
export interface DataPart {
  offset: number;
  length: number;
}

/** The form of a file without its holes in an archive (GNU tar's "PAX 1.0"): a map of the data, then the data. */
export interface SparseForm {
  name: string;
  /** Bytes of map and data. */
  size: number;
  map: Buffer;
  pax: Record<string, string>;
}

type FileEntry = Extract<ManifestEntry, { type: 'file' }>;

const BLOCK_BYTES = 512;

export function sparseForm(path: string, size: number, parts: readonly DataPart[]): SparseForm {
  const map = mapOf(parts);
  return {
    name: nameInTar(path),
    size: map.length + dataBytes(parts),
    map,
    pax: {
      'GNU.sparse.major': '1',
      'GNU.sparse.minor': '0',
      'GNU.sparse.name': path,
      'GNU.sparse.realsize': String(size),
    },
  };
}

/** The form of an entry that was archived without its holes, otherwise null. */
export function sparseFormOf(entry: FileEntry): SparseForm | null {
  return entry.data === undefined ? null : sparseForm(entry.path, entry.size, partsOf(entry));
}

/** The archived parts of a file; the whole file if it has no holes. */
export function partsOf({ size, data }: Pick<FileEntry, 'size' | 'data'>): DataPart[] {
  return data === undefined
    ? [{ offset: 0, length: size }]
    : data.map(([offset, length]) => ({ offset, length }));
}

/** Whether the parts are ordered, disjoint and inside the file. */
export function areInside(parts: readonly DataPart[], size: number): boolean {
  let end = 0;
  for (const { offset, length } of parts) {
    if (offset < end) return false;
    end = offset + length;
  }
  return end <= size;
}

export function dataBytes(parts: readonly DataPart[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Maps consecutive pieces of the data to their positions in the file. */
export function placePieces(parts: readonly DataPart[]): (bytes: Buffer) => { at: number; bytes: Buffer }[] {
  let index = 0;
  let done = 0;
  return (bytes) => {
    const placed: { at: number; bytes: Buffer }[] = [];
    for (let rest = bytes; rest.length > 0; ) {
      const part = parts[index];
      if (part === undefined) throw new Error('there is more data than parts for it');
      const piece = rest.subarray(0, part.length - done);
      if (piece.length > 0) placed.push({ at: part.offset + done, bytes: piece });
      rest = rest.subarray(piece.length);
      done += piece.length;
      if (done === part.length) {
        index += 1;
        done = 0;
      }
    }
    return placed;
  };
}

/** Decimal numbers, one per line: the number of parts, then offset and length of each. Padded with zeros to a whole block. */
function mapOf(parts: readonly DataPart[]): Buffer {
  const lines = [parts.length, ...parts.flatMap(({ offset, length }) => [offset, length])];
  const text = Buffer.from(`${lines.join('\n')}\n`);
  const padding = (BLOCK_BYTES - (text.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return Buffer.concat([text, Buffer.alloc(padding)]);
}

/** A tar that does not know the format unpacks map and data under this name. */
function nameInTar(path: string): string {
  const slash = path.lastIndexOf('/') + 1;
  return `${path.slice(0, slash)}GNUSparseFile.0/${path.slice(slash)}`;
}
