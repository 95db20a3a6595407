/** A chunk of a backup. */
export interface ChunkRef {
  /** SHA-256 of the chunk, one character for each byte. */
  id: string;
  length: number;
}

const ID_BYTES = 32;
const REF_BYTES = ID_BYTES + 4;

/** Chunks as bytes: the SHA-256 and the length (4 bytes, big-endian) of each. */
export function encodeChunks(chunks: readonly ChunkRef[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(chunks.length * REF_BYTES);
  for (const [index, { id, length }] of chunks.entries()) {
    bytes.write(id, index * REF_BYTES, 'latin1');
    bytes.writeUInt32BE(length, index * REF_BYTES + ID_BYTES);
  }
  return bytes;
}

export function decodeChunks(bytes: Buffer): ChunkRef[] {
  if (bytes.length % REF_BYTES !== 0) throw new RangeError('a list of chunks is cut off');
  return Array.from({ length: bytes.length / REF_BYTES }, (_, index) => ({
    id: bytes.toString('latin1', index * REF_BYTES, index * REF_BYTES + ID_BYTES),
    length: bytes.readUInt32BE(index * REF_BYTES + ID_BYTES),
  }));
}

/** Chunks as a manifest lists them, in base64. Null if the list is damaged. */
export function listedChunks(text: string): ChunkRef[] | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length % REF_BYTES === 0 ? decodeChunks(bytes) : null;
}
