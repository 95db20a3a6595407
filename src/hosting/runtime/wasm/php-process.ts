import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { CLOSED_PROGRAMS } from '../../policy/closed-programs.ts';
import {
  PhpFailure,
  type PhpFailureReason,
  type PhpProgram,
  type PhpRequest,
  type PhpResponse,
  type PhpScript,
  type PhpScriptResult,
  type PhpSite,
  type TakeProgramOutput,
  type WarmUpPage,
} from './php-sites.ts';
import { listenForProcess, type ServiceOptions } from './platform-services.ts';
import { type ProcessPlace, START_MS } from './process-place.ts';
import {
  HEADER,
  type PhpCodeFile,
  type PhpProcessLine,
  type PhpProcessSite,
  type PhpProcessStart,
  type PhpWarmUp,
  PROCESS_PREFIX,
  type ProgramBody,
  type ScriptBody,
} from './process-protocol.ts';
import { readProgramAnswer } from './program-answer.ts';

const MIB = 1024 * 1024;
const OUTPUT_BYTES = 16 * MIB;
const SCRIPT_SECONDS = 60;
const FORM_BYTES = MIB;
/** Of the output of a process that ends by itself, for the log. */
const LAST_LINES = 20;
/** Seconds after which a refused visitor may try again. */
const RETRY_AFTER = 5;
/** Headers of the connection to the process. */
const DROPPED = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', HEADER.exit]);

/** Node's server reads other bytes as Latin-1, and its client refuses them. */
const NOT_ASCII = /[^\x21-\x7e]/g;

/** A process that runs PHP. It serves one website for its whole life. */
export interface PhpProcess {
  readonly version: string;
  readonly pid: number;
  /** Resolves when the process has ended and its place is removed. */
  readonly ended: Promise<void>;
  /** Shows the process a page of a website that is like its own, which gets it before {@link serve}. */
  warmUp(page: WarmUpPage): Promise<void>;
  /** Lets the process write the machine code of PHP, after {@link warmUp}. `take` gets the file, which is removed afterwards. */
  keepCode(take: (file: string) => Promise<void>): Promise<void>;
  /** Gives the process its website. Once only. */
  serve(site: PhpSite): Promise<void>;
  request(request: PhpRequest, signal?: AbortSignal): Promise<PhpResponse>;
  run(script: PhpScript, signal?: AbortSignal): Promise<PhpScriptResult>;
  runProgram(program: PhpProgram, take: TakeProgramOutput, signal?: AbortSignal): Promise<number>;
  kill(): Promise<void>;
}

/** A process that has its website. */
export type ServingProcess = Omit<PhpProcess, 'warmUp' | 'keepCode' | 'serve'>;

export interface PhpProcessOptions extends ServiceOptions {
  settings: PhpProcessStart;
  waitMs: number;
  /** Kills the process, also while it starts. */
  signal?: AbortSignal;
}

/** Starts a process and waits until PHP is ready. */
export async function startPhpProcess(place: ProcessPlace, options: PhpProcessOptions): Promise<PhpProcess> {
  const { log, settings, signal } = options;
  if (signal?.aborted) {
    await place.remove();
    throw signal.reason;
  }
  const { path, arguments: parameters, environment } = place.program;
  const child = spawn(path, parameters, {
    env: environment,
    // A Ctrl-C on the terminal would end it before running requests finish.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  const lastLines = followLines(child.stderr, log);
  let siteId: string | null = null;
  let isKilled = false;
  const abort = (): void => {
    isKilled = true;
    child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', abort, { once: true });
  const exit = new Promise<void>((resolve) => {
    // bubblewrap ends before the PHP in it. Its output closes when nothing of it holds a file of the website any more.
    child.once('close', () => resolve());
    // Unread output would keep it open.
    child.once('exit', () => child.stdout.resume());
    child.once('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
  const agent = new Agent({ keepAlive: true });
  const phpSocket = 'php.sock';
  // Only the platform may send scripts, whatever a visitor makes of the connection.
  const scriptKey = randomBytes(32).toString('base64url');
  let services: Server | undefined;
  /** Work of its place and its services for it. */
  let preparing: Promise<unknown> = Promise.resolve();
  let hasEnded = false;
  const ended = exit.then(async () => {
    hasEnded = true;
    signal?.removeEventListener('abort', abort);
    if (!isKilled) {
      const { exitCode, signalCode } = child;
      const about = { install: siteId, exitCode, signalCode, lines: lastLines };
      log.warn(about, 'a PHP process ended unexpectedly');
    }
    agent.destroy();
    // What they open after this would stay open for good, and keep the platform from ending.
    await preparing;
    services?.close();
    await place
      .remove()
      .catch((err: unknown) => log.warn({ err }, 'the folder of a PHP process was not removed'));
  });

  async function kill(): Promise<void> {
    abort();
    await ended;
  }

  /** Begins work that must be over before the place is removed. */
  function prepare<Result>(work: () => Promise<Result>): Promise<Result> {
    if (hasEnded) return Promise.reject(new PhpFailure('failed', 'PHP has ended'));
    const begun = work();
    preparing = Promise.allSettled([preparing, begun]);
    return begun;
  }

  async function listen(siteId: string): Promise<void> {
    const socket = join(place.run, 'services.sock');
    services = await listenForProcess(socket, siteId, options);
    await chmod(socket, 0o600);
  }

  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function nextLine(): Promise<PhpProcessLine> {
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
    try {
      const { value, done } = await lines.next();
      if (done === true || value === undefined) throw new PhpFailure('failed', 'PHP did not start');
      return JSON.parse(value);
    } finally {
      clearTimeout(timer);
    }
  }

  function send(value: PhpProcessStart | { warmUp: PhpWarmUp } | PhpCodeFile | PhpProcessSite): void {
    child.stdin.write(`${JSON.stringify(value)}\n`);
  }

  /** Sends a request to the process. */
  async function ask(
    parameters: { method: string; path: string; headers: OutgoingHttpHeaders },
    body: NodeJS.ReadableStream | string | null,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const sent = httpRequest({
      ...parameters,
      socketPath: join(place.run, phpSocket),
      agent,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      if (body === null) sent.end();
      else if (typeof body === 'string') sent.end(body);
      else {
        body.on('error', () => sent.destroy());
        body.pipe(sent);
      }
      const [response]: IncomingMessage[] = await once(sent, 'response');
      if (response === undefined) throw new Error('no response');
      return response;
    } catch (error) {
      signal?.throwIfAborted();
      throw new PhpFailure('failed', `PHP gave no answer: ${String(error)}`);
    }
  }

  /** Says something about a request. It needs no answer, and a process that ends needs to know nothing. */
  async function tell(headers: OutgoingHttpHeaders): Promise<void> {
    try {
      const answer = await ask(
        { method: 'POST', path: '/', headers: { ...headers, [HEADER.scriptKey]: scriptKey } },
        null,
      );
      answer.resume();
    } catch (err) {
      log.debug({ err, install: siteId }, 'a PHP process was not told that a visitor has left');
    }
  }

  try {
    send(settings);
    const ready = await nextLine();
    if (ready.state !== 'ready') throw new PhpFailure('failed', 'PHP did not start');

    return {
      version: ready.version,
      pid: child.pid ?? 0,
      ended,
      kill,

      async warmUp({ pattern, code, host, https }) {
        // The file that runs before each script stays empty until the process has its website.
        const whole = `${pattern.prepend}\n?>${code}`;
        const folders = await prepare(() => place.showPattern(pattern));
        send({ warmUp: { folders, code: whole, host, https } });
        const line = await nextLine();
        if (line.state !== 'warm' || line.error !== null) {
          throw new PhpFailure(
            'failed',
            `PHP did not warm up: ${line.state === 'warm' ? line.error : line.state}`,
          );
        }
      },

      async keepCode(take) {
        const name = 'php.code';
        send({ keepCode: join(place.innerRun, name) });
        await nextLine();
        await prepare(() => take(join(place.run, name)));
      },

      async serve(site) {
        siteId = site.id;
        const [folders] = await Promise.all([
          prepare(() => place.show(site)),
          prepare(() => listen(site.id)),
        ]);
        send({
          folders,
          prepend: site.prepend,
          seconds: site.limits.seconds,
          threads: site.limits.threads,
          waitMs: options.waitMs,
          bodyBytes: site.limits.uploadMb * MIB + FORM_BYTES,
          scriptKey,
          closedPrograms: CLOSED_PROGRAMS,
          listen: join(place.innerRun, phpSocket),
          services: join(place.innerRun, 'services.sock'),
        });
        await nextLine();
      },

      async request({ method, target, headers, body, https, clientAddress, host, left }, signal) {
        const visit = randomUUID();
        const tellLeft = (): void => void tell({ [HEADER.left]: visit });
        left?.addEventListener('abort', tellLeft, { once: true });
        if (left?.aborted) tellLeft();
        const response = await ask(
          {
            method,
            path: asciiTarget(target),
            headers: {
              ...forwarded(headers),
              // Else Node sends a body of GET, HEAD, DELETE or OPTIONS without its bounds, and it would begin another request.
              ...(body === null ? {} : { 'transfer-encoding': 'chunked' }),
              host,
              [HEADER.scheme]: https ? 'https' : 'http',
              [HEADER.client]: clientAddress,
              [HEADER.visit]: visit,
            },
          },
          body,
          signal,
        );
        response.once('close', () => left?.removeEventListener('abort', tellLeft));
        await throwFailure(response);
        return { status: response.statusCode ?? 502, headers: headersOf(response), body: response };
      },

      async run(script, signal) {
        const {
          code,
          input = '',
          host,
          https,
          seconds = SCRIPT_SECONDS,
          outputBytes = OUTPUT_BYTES,
          network = true,
        } = script;
        const response = await ask(
          {
            method: 'POST',
            path: '/',
            headers: {
              host,
              [HEADER.scheme]: https ? 'https' : 'http',
              [HEADER.client]: '127.0.0.1',
              [HEADER.script]: String(seconds),
              [HEADER.scriptKey]: scriptKey,
            },
          },
          JSON.stringify({ code, input, outputBytes, network } satisfies ScriptBody),
          signal,
        );
        await throwFailure(response);
        return JSON.parse(await textOf(response));
      },

      async runProgram(program, take, signal) {
        const body: ProgramBody = program;
        const headers = { host: 'localhost', [HEADER.program]: '1', [HEADER.scriptKey]: scriptKey };
        const response = await ask({ method: 'POST', path: '/', headers }, JSON.stringify(body), signal);
        try {
          await throwFailure(response);
          return await readProgramAnswer(response, take);
        } catch (error) {
          signal?.throwIfAborted();
          throw error instanceof PhpFailure
            ? error
            : new PhpFailure('failed', `PHP ended early: ${String(error)}`);
        }
      },
    };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Logs the lines of a stream. Returns the last ones, which change with each line. */
function followLines(stream: NodeJS.ReadableStream, log: Logger): readonly string[] {
  const last: string[] = [];
  createInterface({ input: stream }).on('line', (text) => {
    const line = text.slice(0, 1_000);
    log.debug({ line }, 'PHP process');
    last.push(line);
    if (last.length > LAST_LINES) last.shift();
  });
  return last;
}

/** Path and query of a request, with other bytes than those of ASCII escaped. */
export const asciiTarget = (target: string): string => target.replace(NOT_ASCII, encodedByte);

function encodedByte(character: string): string {
  return `%${(character.charCodeAt(0) & 0xff).toString(16).padStart(2, '0')}`;
}

/** The visitor's headers without those of the connection and of ours. */
function forwarded(headers: PhpRequest['headers']): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    // An `expect` is between the visitor and the edge. `proxy` would become HTTP_PROXY.
    if (value === undefined || DROPPED.has(name) || name === 'expect' || name === 'proxy') continue;
    if (name === 'upgrade' || name === 'te' || name === 'trailer' || name.startsWith(PROCESS_PREFIX))
      continue;
    kept[name] = typeof value === 'string' ? value : [...value];
  }
  return kept;
}

function headersOf({ headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (!DROPPED.has(name)) headers[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return headers;
}

/** Throws what the process says instead of an answer of PHP. */
async function throwFailure(response: IncomingMessage): Promise<void> {
  const given = response.headers[HEADER.failure];
  if (given === undefined) return;
  const message = await textOf(response);
  const reason = reasonOf(given);
  throw new PhpFailure(reason, message, reason === 'busy' ? RETRY_AFTER : 0);
}

function reasonOf(text: string | string[]): PhpFailureReason {
  switch (text) {
    case 'busy':
    case 'timeout':
    case 'memory':
    case 'too_large':
      return text;
    default:
      return 'failed';
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk);
  } catch (error) {
    throw new PhpFailure('failed', `PHP ended early: ${String(error)}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
