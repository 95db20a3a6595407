import { SECOND_MS } from '../../../lib/durations.ts';
import { MOST_OUTPUT_BYTES, WP_CLI_SECONDS, type WpCliOutcome } from '../../contract/wp-cli.ts';

/** Takes what a command writes. */
export type TakeOutput = Record<'stdout' | 'stderr', (chunk: Buffer) => void>;

/** A command that runs. */
export interface RunningCommand {
  /** Resolves to the exit status after the command has ended and all its output was taken. */
  ended: Promise<number>;
  /** Ends the command with all that it started. `ended` settles afterwards. */
  kill(): void;
}

export interface Bounds {
  /** Time limit in milliseconds; that of the contract if left out. */
  withinMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A command that writes more is ended: reading it costs the host. */
const MOST_WRITTEN_BYTES = 64 * 1024 * 1024;

/** Runs a command to its end, or ends it at a limit. The same limits hold on all hosts. Rejects if the signal aborts. */
export async function runBounded(
  start: (take: TakeOutput) => RunningCommand,
  { withinMs = WP_CLI_SECONDS * SECOND_MS, signal }: Bounds,
): Promise<WpCliOutcome> {
  signal?.throwIfAborted();
  let refusal: WpCliOutcome | undefined;
  let written = 0;
  const count = (bytes: number) => {
    written += bytes;
    if (written > MOST_WRITTEN_BYTES) {
      end({ refused: 'output', reason: 'The command was ended, because it wrote more than 64 MB.' });
    }
  };
  const stdout = keepStart(count);
  const stderr = keepStart(count);
  const ending = new AbortController();
  function end(outcome: WpCliOutcome): void {
    refusal ??= outcome;
    ending.abort();
  }
  const command = start({ stdout: stdout.take, stderr: stderr.take });
  const ended = AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]);
  if (ended.aborted) command.kill();
  else ended.addEventListener('abort', () => command.kill());
  const timer = setTimeout(() => {
    const seconds = Math.round(withinMs / SECOND_MS);
    const reason = `The command was ended, because it took longer than ${seconds} seconds.`;
    end({ refused: 'time', reason });
  }, withinMs);
  try {
    const exitStatus = await command.ended;
    signal?.throwIfAborted();
    if (refusal !== undefined) return refusal;
    const [out, err] = [stdout.kept(), stderr.kept()];
    return {
      exitStatus,
      stdout: out.text,
      stderr: err.text,
      stdoutTruncated: out.isTruncated,
      stderrTruncated: err.isTruncated,
    };
  } catch (error) {
    signal?.throwIfAborted();
    // A command that is ended can fail because of that.
    if (refusal !== undefined) return refusal;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps the first {@link MOST_OUTPUT_BYTES} of an output, and drops the rest. */
function keepStart(onBytes: (bytes: number) => void) {
  const parts: Buffer[] = [];
  let room = MOST_OUTPUT_BYTES;
  let isTruncated = false;
  return {
    take(chunk: Buffer) {
      if (chunk.length > room) isTruncated = true;
      const part = chunk.subarray(0, room);
      if (part.length > 0) parts.push(part);
      room -= part.length;
      onBytes(chunk.length);
    },
    kept: () => ({ text: decoded(Buffer.concat(parts), isTruncated), isTruncated }),
  };
}

/** The text, without a character that was cut in the middle. */
function decoded(bytes: Buffer, isTruncated: boolean): string {
  return new TextDecoder().decode(bytes, { stream: isTruncated });
}
