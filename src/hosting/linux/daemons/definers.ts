import { Transform } from 'node:stream';

/** Bytes of a line that suffice to find a definer: the names in it have at most 128 characters. */
const LOOKED_AT = 1024;
const NEWLINE = 0x0a;
const DEFINER = /^(CREATE|\/\*!\d{5,6}(?: CREATE\*\/ \/\*!\d{5,6})?) DEFINER=`[^`]*`@`[^`]*`/;

/**
 * Removes the definers of views, triggers, functions and events from a dump, so that another user can load it: users cannot
 * create objects in another user's name. Rows of tables contain no line ends, so data is never mistaken for such a line.
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

/** `latin1` preserves the bytes. */
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
