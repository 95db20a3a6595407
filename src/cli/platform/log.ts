import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../../config/config.ts';
import { hasCode } from '../../lib/error-code.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { terminalLine } from './terminal-line.ts';

/** Fields that never reach the log. */
const SECRET_FIELDS = [
  'password',
  'token',
  'authorization',
  'key',
  '*.password',
  '*.token',
  '*.authorization',
  '*.key',
];

const { err: errorFields } = pino.stdSerializers;

const shownText = (value: unknown) => (typeof value === 'string' ? withOwnCommand(value) : value);

/** Messages, reasons and remedies with the commands of this installation. Other fields stay as they are. */
const WITH_COMMANDS: Pick<LoggerOptions, 'hooks' | 'serializers'> = {
  hooks: {
    logMethod(words, method) {
      const [first, second, ...rest] = words;
      if (typeof first === 'string') return method.call(this, withOwnCommand(first), second, ...rest);
      method.call(this, first, second === undefined ? second : withOwnCommand(second), ...rest);
    },
  },
  serializers: {
    err(error: unknown) {
      if (!(error instanceof Error)) return error;
      const fields = errorFields(error);
      return { ...fields, message: withOwnCommand(fields.message), stack: withOwnCommand(fields.stack) };
    },
    reason: shownText,
    remedy: shownText,
  },
};

/** Characters that are written at once, and the longest time that a line waits for others. A call of the system for each line costs more. */
const BATCH_LENGTH = 16_000;
const FLUSH_MS = 100;
const WARN = 40;
/** Time until the reader of a full pipe is tried again. */
const FULL_PIPE_MS = 10;

/** All logs of a process share it, because it listens for the end of the process. */
let standardError: DestinationStream | undefined;

/**
 * The log on standard error: JSON lines, or on a terminal a readable line each. Without a level, a terminal gets warnings and errors only,
 * because what it showed before would scroll away. Lines below `warn` are written in batches, at the latest after 100 ms and at the end of
 * the process. A line of `warn` and above is written at once, with those that wait. It can come before a batch that is being written.
 */
export async function createLog({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger> {
  const redact = { paths: SECRET_FIELDS, censor: '[secret]' };
  if (!process.stderr.isTTY) {
    standardError ??= batched(2);
    return pino({ level: logLevel ?? 'info', redact, ...WITH_COMMANDS }, standardError);
  }
  const { default: pretty } = await import('pino-pretty');
  const level = logLevel ?? 'warn';
  return pino(
    { level, redact, ...WITH_COMMANDS },
    pretty({
      destination: 2,
      sync: true,
      ignore: 'pid,hostname',
      translateTime: 'HH:MM:ss',
      // Developers ask for these levels, and want stacks.
      ...(level === 'debug' || level === 'trace' ? {} : { hideObject: true, messageFormat: terminalLine }),
    }),
  );
}

function batched(descriptor: number): DestinationStream {
  const destination = pino.destination({ dest: descriptor, sync: false });
  // Batched here, because the destination measures all that it holds at each write.
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const takeLines = () => {
    clearTimeout(timer);
    timer = undefined;
    const batch = lines;
    lines = '';
    return batch;
  };
  const writeLines = () => {
    const batch = takeLines();
    if (batch !== '') destination.write(batch);
  };
  const batches = {
    // pino sets lastLevel before each write to a destination with this symbol.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      lines += line;
      if (batches.lastLevel >= WARN) writeNow(descriptor, takeLines());
      else if (lines.length >= BATCH_LENGTH) writeLines();
      else timer ??= setTimeout(writeLines, FLUSH_MS).unref();
    },
  };
  process.once('beforeExit', writeLines);
  process.once('exit', () => writeNow(descriptor, takeLines()));
  return batches;
}

/**
 * Writes a text before it returns, also if the process crashes next. The destination cannot: its `write` begins a write in another thread,
 * and its `flushSync` repeats a write that fails for ever. Drops a text that cannot be written, because there is nowhere to report it.
 */
function writeNow(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
