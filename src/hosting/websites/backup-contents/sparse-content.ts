/** A part of a file that has data. */
interface DataPart {
  offset: number;
  length: number;
}

const ZEROS = Buffer.alloc(256 * 1024);

/** Writes a sparse file: takes the data between its holes in order, and writes zeros for the holes. */
export function sparseWriter(
  parts: readonly DataPart[],
  size: number,
  write: (bytes: Buffer) => Promise<void>,
) {
  const rest = parts.filter(({ length }) => length > 0).map((part) => ({ ...part }));
  let position = 0;

  async function fillTo(end: number): Promise<void> {
    while (position < end) {
      const zeros = ZEROS.subarray(0, Math.min(ZEROS.length, end - position));
      position += zeros.length;
      await write(zeros);
    }
  }

  return {
    async write(bytes: Buffer): Promise<void> {
      for (let left = bytes; left.length > 0; ) {
        const [part] = rest;
        if (part === undefined) throw new Error('a sparse file has more data than parts for it');
        await fillTo(part.offset);
        const piece = left.subarray(0, part.length);
        await write(piece);
        position += piece.length;
        part.offset += piece.length;
        part.length -= piece.length;
        if (part.length === 0) rest.shift();
        left = left.subarray(piece.length);
      }
    },
    end: () => fillTo(size),
  };
}
