/** A process that runs the PHP of one website. It starts without one and waits for it on its input. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { jspi } from '@php-wasm/node-8-4';
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
} from '../process-protocol.ts';
import { frame } from './frames.ts';
import { type CallFailure, type CallListener, createPhpThreads, type PhpThreads } from './php-threads.ts';
import { createVisits } from './visits.ts';

/** An `import` reads all properties of the module, and its WebSocket loads a second HTTP client: 12 MB. */
const { createServer } = process.getBuiltinModule('node:http');

/** Names of the connection between the platform and this process, or of the platform. */
const OWN = new Set(['connection', 'transfer-encoding', 'keep-alive', 'expect', 'content-length']);
/** Output that the process holds before PHP waits: a page of usual size never waits for a slow visitor. */
const HELD_BYTES = 4 * 1024 * 1024;
/** PHP's exit code after an error that ended the script, such as too much memory. */
const FATAL = 255;
const STATUS: Record<CallFailure | 'too_large', number> = {
  busy: 503,
  timeout: 504,
  memory: 500,
  failed: 502,
  too_large: 413,
};

const visits = createVisits();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// The platform has ended, or ends this process.
process.stdin.on('end', () => process.exit(0));

const settings: PhpProcessStart = await nextLine();
const threads = createPhpThreads(settings, await wasmFile(), (line) => process.stderr.write(`${line}\n`));
report({ state: 'ready', version: await threads.begin() });
const { scriptKey, ...site } = await websiteLine();
await threads.serve(site);
const server = createServer((request, response) => {
  // A visitor who leaves while they send ends their own request alone.
  answer(request, response).catch(() => response.destroy());
});
// The platform's own timeouts count.
Object.assign(server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
server.listen(site.listen, () => report({ state: 'serving' }));

async function nextLine() {
  const { value } = await lines.next();
  if (value === undefined) process.exit(0);
  return JSON.parse(value);
}

/** Does before the website is known what the platform says. */
async function websiteLine(): Promise<PhpProcessSite> {
  for (;;) {
    const line: { warmUp: PhpWarmUp } | PhpCodeFile | PhpProcessSite = await nextLine();
    if ('warmUp' in line) report({ state: 'warm', error: await threads.warmUp(line.warmUp) });
    else if ('keepCode' in line) {
      await threads.keepCode(line.keepCode);
      report({ state: 'kept' });
    } else return line;
  }
}

function report(line: PhpProcessLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function wasmFile(): Promise<string> {
  const folder = dirname(createRequire(import.meta.url).resolve('@php-wasm/node-8-4/package.json'));
  return join(folder, (await jspi()) ? 'jspi' : 'asyncify', '8_4_25', 'php_8_4.wasm');
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // The edge sends its own.
  response.sendDate = false;
  const left = request.headers[HEADER.left];
  if (left !== undefined && isPlatform(request)) {
    visits.leave(String(left));
    response.end();
    return;
  }
  const body = await bodyOf(request, site.bodyBytes);
  if (body === null) {
    fail(response, 'too_large', 'the body is too large');
    return;
  }
  const { [HEADER.script]: seconds, [HEADER.program]: program } = request.headers;
  if (seconds === undefined && program === undefined) answerRequest(threads, request, response, body);
  else if (!isPlatform(request)) fail(response, 'failed', 'only the platform sends scripts');
  else if (program !== undefined) answerProgram(threads, response, JSON.parse(body.toString('utf8')));
  else answerScript(threads, request, response, JSON.parse(body.toString('utf8')), Number(seconds));
}

function isPlatform({ headers }: IncomingMessage): boolean {
  const given = Buffer.from(String(headers[HEADER.scriptKey] ?? ''));
  const wanted = Buffer.from(scriptKey);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function answerRequest(
  threads: PhpThreads,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): void {
  const call = threads.call(
    { ...visitOf(request), body: body.length === 0 ? null : new Uint8Array(body), code: null, network: true },
    site.seconds,
    {
      ...listenerFor(response),
      output(chunk, taken) {
        response.write(chunk);
        whenTaken(response, taken);
      },
      end(exit) {
        if (exit !== FATAL || response.statusCode >= 500) response.end();
        else if (response.headersSent) cut(response);
        else fail(response, 'failed', 'PHP ended with an error');
      },
    },
  );
  response.on('close', call.giveUp);
  visits.begin(String(request.headers[HEADER.visit]), call.leave, response);
}

function answerScript(
  threads: PhpThreads,
  request: IncomingMessage,
  response: ServerResponse,
  script: ScriptBody,
  seconds: number,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { giveUp } = threads.call(
    {
      ...visitOf(request),
      method: 'POST',
      body: new TextEncoder().encode(script.input),
      code: script.code,
      network: script.network,
    },
    seconds,
    {
      ...listenerFor(response),
      head() {},
      output(chunk, taken) {
        bytes += chunk.length;
        if (bytes <= script.outputBytes) chunks.push(chunk);
        taken();
      },
      end(exit, error) {
        if (bytes > script.outputBytes) {
          fail(response, 'failed', 'the output is too long');
          return;
        }
        const output = Buffer.concat(chunks).toString('utf8');
        response.setHeader(HEADER.exit, String(exit));
        response.end(JSON.stringify({ output, error, exit }));
      },
    },
  );
  response.on('close', giveUp);
}

function answerProgram(threads: PhpThreads, response: ServerResponse, program: ProgramBody): void {
  const { kill } = threads.run(program, {
    output(stream, chunk, taken) {
      response.write(frame(stream, chunk));
      whenTaken(response, taken);
    },
    end: (exit) => response.end(frame('exit', Buffer.from(String(exit)))),
    fail: (message) => response.end(frame('failure', Buffer.from(message))),
  });
  response.on('close', kill);
  if (response.destroyed) kill();
}

/** The visitor's request from its headers. */
function visitOf({ method = 'GET', url = '/', headers }: IncomingMessage) {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || OWN.has(name) || name.startsWith(PROCESS_PREFIX)) continue;
    given[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return {
    method,
    target: url,
    headers: given,
    https: headers[HEADER.scheme] === 'https',
    client: String(headers[HEADER.client] ?? ''),
  };
}

function listenerFor(response: ServerResponse): Pick<CallListener, 'head' | 'fail'> {
  return {
    head(status, headers) {
      // Other numbers are no status of an answer, and Node refuses them.
      response.statusCode = status >= 200 && status <= 599 ? status : 500;
      for (const [name, value] of headers) {
        if (OWN.has(name) || name.startsWith(PROCESS_PREFIX)) continue;
        try {
          response.appendHeader(name, value);
        } catch {
          // A plugin's header with forbidden characters is left out.
        }
      }
    },
    fail: (reason, message) => fail(response, reason, message),
  };
}

function fail(response: ServerResponse, reason: CallFailure | 'too_large', message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(STATUS[reason], { [HEADER.failure]: reason, 'content-type': 'text/plain' });
  response.end(message);
}

/** Ends an answer so that its reader knows that it is not whole. */
function cut({ socket }: ServerResponse): void {
  socket?.destroySoon();
}

function whenTaken(response: ServerResponse, taken: () => void): void {
  if (response.destroyed || response.writableLength < HELD_BYTES) {
    taken();
    return;
  }
  const go = (): void => {
    response.off('drain', go);
    response.off('close', go);
    taken();
  };
  response.on('drain', go);
  response.on('close', go);
}

/** Null: longer than `most`. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // Read to its end, so that the answer arrives.
    if (bytes <= most) chunks.push(chunk);
  }
  return bytes > most ? null : Buffer.concat(chunks);
}
