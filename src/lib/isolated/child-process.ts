import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { compileCacheVariable } from '../compile-cache.ts';
import { type FromChild, readMessages, sendMessage, type ToChild } from './messages.ts';

const ENTRY = fileURLToPath(new URL('./child.ts', import.meta.url));
const MIB = 1024 * 1024;
/** Variables that name the roots for TLS. The rest of the environment holds secrets, so the child does not get it. */
const PASSED_ON = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
/** Of standard error, for the message. V8 and Node begin with the reason. */
const MOST_CHARACTERS = 1_000;
/** V8 writes it before it ends the process. */
const HEAP_LIMIT = 'heap out of memory';
const WATCH_MS = 200;
/** A busy machine may need seconds for what usually takes a moment. */
const START_MS = 60_000;

export interface Child {
  send(message: ToChild): void;
  /** Whether work keeps the platform's process alive. */
  setBusy(isBusy: boolean): void;
  /** Kills it, and calls `ended` at once. */
  kill(reason: Ending['reason'], text: string): void;
  /** Lets the child end. `ended` is not called. */
  release(): void;
  /** Milliseconds that it has used a processor; null where the system does not tell. */
  processorMs(): number | null;
}

/** How a child ended. */
export interface Ending {
  reason: 'crash' | 'memory' | 'time' | 'start' | 'closed';
  /** For people: `SIGSEGV`, `status 134`, followed by the beginning of its standard error. */
  text: string;
}

/**
 * Starts a child that runs tasks. `ended` is called once, unless the child was released. `memoryMb`: of the whole process, half of it for
 * JavaScript. `mostBytes`: of a message from it.
 */
export function startChild(
  { memoryMb, mostBytes }: { memoryMb: number; mostBytes: number },
  { received, ended }: { received(message: FromChild): void; ended(ending: Ending): void },
): Child {
  const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${Math.ceil(memoryMb / 2)}`];
  const child = spawn(process.execPath, [...flags, ENTRY], {
    cwd: '/',
    env: {
      ...Object.fromEntries(
        PASSED_ON.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
      ),
      // Without it the child would compile the sources at each start.
      ...compileCacheVariable(),
    },
    // A Ctrl-C on the terminal would end it before running requests and jobs finish.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  const [, , errors, channel] = child.stdio ?? [];
  // The channel alone keeps the platform's process alive.
  if (errors instanceof Socket) errors.unref();
  errors?.on('data', (chunk) => {
    stderr = (stderr + String(chunk)).slice(0, MOST_CHARACTERS);
  });
  let isReady = false;
  const starting = setTimeout(() => kill('start', `not ready after ${START_MS} ms`), START_MS).unref();
  const watch = setInterval(() => {
    if (residentBytes(child) > memoryMb * MIB) kill('memory', `more than ${memoryMb} MiB`);
  }, WATCH_MS).unref();
  const killWithPlatform = () => child.kill('SIGKILL');
  process.on('exit', killWithPlatform);

  let isOver = false;
  function end(ending: Ending): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(starting);
    clearInterval(watch);
    process.off('exit', killWithPlatform);
    ended(ending);
  }

  function kill(reason: Ending['reason'], text: string): void {
    child.kill('SIGKILL');
    end({ reason, text });
  }

  child.once('error', ({ message }) => {
    if (child.pid === undefined) end({ reason: 'start', text: `it could not be started (${message})` });
  });
  // Without a free descriptor there is none, and `error` follows.
  if (!(channel instanceof Socket)) return NOT_STARTED;
  readMessages(channel, mostBytes, {
    received(message: FromChild) {
      if (message.kind === 'ready') {
        isReady = true;
        clearTimeout(starting);
      }
      if (!isOver) received(message);
    },
    broken: (why) => kill('crash', `it sent what cannot be read (${why})`),
  });
  // `close` of the process tells it.
  channel.on('error', () => {});
  // After the end of its output, so that the message has all of it.
  child.once('close', (status, signal) => {
    process.off('exit', killWithPlatform);
    const said = stderr.trim();
    const how = signal ?? `status ${status}`;
    const died = said.includes(HEAP_LIMIT) ? 'memory' : 'crash';
    end({ reason: isReady ? died : 'start', text: said === '' ? how : `${how}: ${said}` });
  });

  return {
    send: (message) => sendMessage(channel, message),
    setBusy(isBusy) {
      const method = isBusy ? 'ref' : 'unref';
      child[method]();
      channel[method]();
    },
    kill,
    release() {
      isOver = true;
      clearInterval(watch);
      channel.end();
    },
    processorMs: () => processorMs(child),
  };
}

const NOT_STARTED: Child = {
  send: () => {},
  setBusy: () => {},
  kill: () => {},
  release: () => {},
  processorMs: () => null,
};

/** Memory that the child uses outside of JavaScript too; 0 where the system does not tell. */
function residentBytes({ pid }: ChildProcess): number {
  if (process.platform !== 'linux' || pid === undefined) return 0;
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    // It has ended.
    return 0;
  }
}

/** Linux counts in hundredths of a second, in fields 14 and 15. The name of the program before them may have spaces. */
function processorMs({ pid }: ChildProcess): number | null {
  if (process.platform !== 'linux' || pid === undefined) return null;
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // It has ended.
    return null;
  }
}
