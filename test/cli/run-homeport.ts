import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DatabasePlace } from '../database.ts';
import { freePort } from '../servers/free-port.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/homeport.mjs', import.meta.url));
/** A server of a whole test file lives so long, too. */
const PATIENCE_MS = 110_000;

export type Environment = Record<string, string>;

/** Output and exit status of a command. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that runs. */
export interface Running {
  process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves once it printed that, or rejects with what it printed if it ended before. */
  printed(text: string): Promise<void>;
  ended: Promise<Ended>;
}

/** The settings of a Homeport of one test: on 127.0.0.1, the API on a free port, the rest on any. */
export async function environmentFor(place: DatabasePlace, changes: Environment = {}): Promise<Environment> {
  const { databaseUrl, dataDir } = place.settings;
  const port = await freePort();
  return {
    HOMEPORT_DATA_DIR: dataDir,
    ...(databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
    HOMEPORT_LISTEN: `127.0.0.1:${port}`,
    HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
    HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
    HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
    // PHP takes seconds and hundreds of MiB, so installs are static websites.
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    HOMEPORT_EMBEDDED_PHP: 'wasm',
    ...changes,
  };
}

/** Starts the program as a user does, without a terminal and with nothing of the tests' own environment. */
export function begin(environment: Environment, ...words: string[]): Running {
  return beginCommand(environment, [process.execPath, PROGRAM, ...words]);
}

function beginCommand(environment: Environment, [program = '', ...words]: string[], input?: string): Running {
  const { PATH, HOME, NODE_COMPILE_CACHE, HOMEPORT_COMMAND } = process.env;
  const child = spawn(program, words, {
    env: { PATH, HOME, NODE_COMPILE_CACHE, HOMEPORT_COMMAND, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      clearTimeout(overdue);
      resolve({ code, stdout, stderr });
      changed();
    });
  });
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (`${stdout}${stderr}`.includes(text)) resolve();
          else if (child.exitCode !== null || child.signalCode !== null) {
            reject(new Error(`it ended (${child.exitCode}) without "${text}":\n${stdout}\n${stderr}`));
          } else return;
          listeners.delete(look);
        };
        listeners.add(look);
        look();
      }),
  };
}

/** Runs a command to its end. */
export function run(environment: Environment, ...words: string[]): Promise<Ended> {
  return begin(environment, ...words).ended;
}

/** The same, with a text on its standard input. */
export function runWithInput(environment: Environment, input: string, ...words: string[]): Promise<Ended> {
  return beginCommand(environment, [process.execPath, PROGRAM, ...words], input).ended;
}

/** The same, where it must succeed; returns its JSON. */
export async function runJson(environment: Environment, ...words: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await run(environment, ...words, '--json');
  if (code !== 0) throw new Error(`homeport ${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** A running `homeport serve`, once it says that it runs. */
export function serve(environment: Environment, ...words: string[]): Promise<Running> {
  return onceServing(begin(environment, 'serve', ...words));
}

/** The same, in a process that may have no more than so many descriptors open. */
export function serveWithin(descriptors: number, environment: Environment): Promise<Running> {
  const limited = ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh'];
  return onceServing(beginCommand(environment, [...limited, process.execPath, PROGRAM, 'serve']));
}

/** The same server, once it says that it runs. */
export async function onceServing(server: Running): Promise<Running> {
  await server.printed('Ctrl-C ends it.');
  return server;
}
