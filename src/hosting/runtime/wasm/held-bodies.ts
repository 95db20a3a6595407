import { type Readable, Transform } from 'node:stream';
import { PhpFailure, type PhpSite } from './php-sites.ts';

const RETRY_AFTER = 5;
const MIB = 1024 * 1024;
/** Whatever the number of threads, so that a website with many does not take the memory of the machine. */
const LARGEST_AT_ONCE = 2;

/** One body on its way to a process, which holds it until a thread is free. */
export interface HeldBody {
  stream: Readable;
  /** Why it was refused; null unless it was. */
  readonly refusal: PhpFailure | null;
  /** Called when the process holds it no more. */
  release(): void;
}

/** The bodies that one process holds: at most two of the largest. Neither they nor their copies in PHP are in the memory of its threads. */
export interface HeldBodies {
  /** Counts a body as it arrives. Its stream fails when the process would hold too much. */
  hold(body: Readable): HeldBody;
}

export function createHeldBodies({ uploadMb }: Pick<PhpSite['limits'], 'uploadMb'>): HeldBodies {
  const largest = uploadMb * MIB;
  const most = LARGEST_AT_ONCE * largest;
  let held = 0;

  function hold(body: Readable): HeldBody {
    let own = 0;
    let isReleased = false;
    let refusal: PhpFailure | null = null;
    const stream = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (isReleased) return done();
        // The process keeps no more of one that is too large.
        const counted = Math.min(chunk.length, largest - own);
        if (held + counted > most) {
          refusal = new PhpFailure('busy', 'too many large requests of the website are waiting', RETRY_AFTER);
          return done(refusal);
        }
        own += counted;
        held += counted;
        done(null, chunk);
      },
    });
    body.once('error', (error) => stream.destroy(error));
    return {
      stream: body.pipe(stream),
      get refusal() {
        return refusal;
      },
      release() {
        if (isReleased) return;
        isReleased = true;
        held -= own;
      },
    };
  }

  return { hold };
}
