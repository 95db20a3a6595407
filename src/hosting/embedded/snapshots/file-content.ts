import { type DataPart, placePieces } from './sparse-file.ts';

/** Runs of at least this many zeros are skipped, which makes the file sparse, as it may have been before. */
const HOLE_BYTES = 4096;
const ZEROS = Buffer.alloc(256 * 1024);

export interface PlacedPiece {
  /** Position in the file. */
  at: number;
  bytes: Buffer;
}

/** Maps consecutive bytes of a file's data to what must be written of them. A hole at the end needs the file's size. */
export function piecesToWrite(parts: readonly DataPart[]): (bytes: Buffer) => PlacedPiece[] {
  const place = placePieces(parts);
  return (bytes) =>
    place(bytes)
      .flatMap(inPieces)
      .filter((piece) => !isHole(piece.bytes));
}

/** Pieces that can be compared with {@link ZEROS}. */
function inPieces({ at, bytes }: PlacedPiece): PlacedPiece[] {
  const pieces = [];
  for (let start = 0; start < bytes.length; start += ZEROS.length) {
    pieces.push({ at: at + start, bytes: bytes.subarray(start, start + ZEROS.length) });
  }
  return pieces;
}

function isHole(chunk: Buffer): boolean {
  return (
    chunk.length >= HOLE_BYTES &&
    chunk.length <= ZEROS.length &&
    chunk.equals(ZEROS.subarray(0, chunk.length))
  );
}
