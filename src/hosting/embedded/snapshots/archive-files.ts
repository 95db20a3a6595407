import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** A backup of an earlier version: an archive (tar, compressed with zstd), and its manifest. */
export interface ArchiveFiles {
  archive: string;
  manifest: string;
}

/** Passes bytes through, counting and hashing them. `report` gets the count. */
export function checksum(report?: (done: number) => void): {
  stream: Transform;
  bytes(): number;
  digest(): string;
} {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      report?.(bytes);
      done(null, chunk);
    },
  });
  return { stream, bytes: () => bytes, digest: () => hash.digest('hex') };
}
