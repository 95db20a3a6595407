import { PhpFailure, type TakeProgramOutput } from './php-sites.ts';
import { FRAME, FRAME_HEAD_BYTES } from './process-protocol.ts';

/** PHP's own exit code after a fatal error. */
const FATAL = 255;
/** Frames are shorter, because a thread writes at most a quarter of its ring at once. */
const LONGEST_FRAME = 1024 * 1024;

/** Reads the answer to a program. Returns its exit code. */
export async function readProgramAnswer(
  answer: AsyncIterable<Buffer>,
  take: TakeProgramOutput,
): Promise<number> {
  let rest = Buffer.alloc(0);
  for await (const chunk of answer) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= FRAME_HEAD_BYTES) {
      const kind = rest.readUInt8(0);
      const end = FRAME_HEAD_BYTES + rest.readUInt32BE(1);
      if (end > LONGEST_FRAME) throw new PhpFailure('failed', 'the answer of PHP cannot be read');
      if (rest.length < end) break;
      const content = rest.subarray(FRAME_HEAD_BYTES, end);
      rest = rest.subarray(end);
      if (kind === FRAME.exit) return Number(content.toString('latin1'));
      if (kind === FRAME.failure) {
        await take.stderr(Buffer.from(`\nError: ${content.toString('utf8')}\n`));
        return FATAL;
      }
      await take[kind === FRAME.stderr ? 'stderr' : 'stdout'](Buffer.from(content));
    }
  }
  throw new PhpFailure('failed', 'PHP ended early');
}
