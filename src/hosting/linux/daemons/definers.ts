import { Transform } from 'node:stream';

/** So much of a line tells whether it has a definer: the names in it are at most 128 characters. */
const LOOKED_AT = 1024;
const NEWLINE = 0x0a;
const DEFINER = /^(CREATE|\/\*!\d{5,6}(?: CREATE\*\/ \/\*!\d{5,6})?) DEFINER=`[^`]*`@`[^`]*`/;

/**
 * Takes out of a dump who has defined its views, triggers, functions and events: whoever loads it is their definer then. It
 * lets a dump be loaded by another user, who may not make anything in the name of somebody else. Rows of tables hold no
 * line ends, so what stands in the data is never taken for such a line.
 */
export function withoutDefiners(): Transform {
  let atLineStart = true;
  let kept: Buffer = Buffer.alloc(0);

  function* pieces(text: Buffer, last: boolean): Generator<Buffer> {
    let position = 0;
    while (position < text.length) {
      const newline = text.indexOf(NEWLINE, position);
      const end = newline < 0 ? text.length : newline + 1;
      if (!atLineStart) {
        yield text.subarray(position, end);
      } else {
        if (newline < 0 && end - position < LOOKED_AT && !last) break;
        yield* withoutDefiner(text.subarray(position, end));
      }
      atLineStart = newline >= 0;
      position = end;
    }
    kept = text.subarray(position);
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const piece of pieces(Buffer.concat([kept, chunk]), false)) this.push(piece);
      done();
    },
    flush(done) {
      for (const piece of pieces(kept, true)) this.push(piece);
      done();
    },
  });
}

/** `latin1` keeps bytes as they are. */
function* withoutDefiner(line: Buffer): Generator<Buffer> {
  const beginning = line.toString('latin1', 0, LOOKED_AT);
  const found = DEFINER.exec(beginning);
  if (found === null) {
    yield line;
    return;
  }
  yield Buffer.from(found[1] ?? '', 'latin1');
  yield line.subarray(found[0].length);
}
