import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { ListenAddress } from '../../config/settings/setting-values.ts';
import { messageOf } from '../../lib/error-message.ts';
import { FULL_DISK, isFullDisk } from '../../lib/full-disk.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { type Randomness, systemRandomness } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { parseTraceparent } from '../../lib/trace-context.ts';
import { ProtocolError } from '../contract/command.ts';
import {
  BrokenWebsiteError,
  isUnchanged,
  PermanentHostError,
  RefusedImportError,
  RefusedRestoreError,
} from '../contract/errors.ts';
import type { HostMachine } from '../contract/host.ts';
import type { HostQuestions } from '../contract/questions.ts';
import { createWaitingRoom } from '../policy/waiting-room.ts';
import { commandHandlers, cut } from './command-handlers.ts';
import type { HostIdentity } from './identity.ts';
import { type Allowed, peerOf } from './peer.ts';
import {
  BEAT_MS,
  LARGEST_BODY,
  type Outcome,
  PATH_PREFIX,
  PROGRESS_HEADER,
  progressLine,
} from './protocol.ts';
import { createQuestionQueue } from './questions.ts';
import { createPeerServer, listenAtPath } from './unix-socket.ts';

export interface HostServer {
  /**
   * Accepts commands on a Unix socket of root with group `gid` (0660). Serves root, `uids` and members of the group, which the
   * kernel identifies. Throws OperatorError if another host listens there.
   */
  listenUnix(path: string, allowed: Allowed): Promise<void>;
  /**
   * Accepts commands over TLS from clients with the control plane's certificate, issued by the identity's authority. Returns
   * the port. Throws OperatorError if the address is unavailable.
   */
  listenTls(address: ListenAddress, identity: HostIdentity): Promise<number>;
  /** Questions to a connected control plane. They reject after 5 s without an answer. */
  questions: HostQuestions;
  /** Stops accepting commands. Cancels commands that are still running after `graceMs` (default: 10 s). */
  close(graceMs?: number): Promise<void>;
}

/** Traces a command: runs `work`, at once, as part of the trace in the header `traceparent` of a control plane. */
export type TraceCommand = <Result>(
  call: { command: string; traceparent: unknown },
  work: () => Promise<Result>,
) => Promise<Result>;

export interface HostServerOptions {
  host: HostMachine;
  log: Logger;
  /** For all commands except idle talk. */
  trace?: TraceCommand | undefined;
  random?: Pick<Randomness, 'uuid'>;
  /** Maximum time of a connection without a complete command, in milliseconds; 60 s by default. */
  commandWithinMs?: number;
  /** Identifies the process at the other end of a connection to the Unix socket; {@link peerOf} by default. */
  identify?: typeof peerOf;
}

/**
 * Limits in milliseconds. Node enforces them only for a server that listens itself, not for the one behind the Unix socket. Node
 * sends the last one to control planes, so that they start no command on a connection that is closing.
 */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 30_000 };
const COMMAND_WITHIN_MS = 60_000;
const HANDSHAKE_MS = 10_000;
const GRACE_MS = 10_000;
/** Interval of the lines of progress, in milliseconds. */
const PROGRESS_MS = 1_000;
/** Maximum number of control planes' connections without a command in progress. */
const MOST_IDLE = 128;
/** Maximum number of commands in progress, including those that wait for a question. */
const MOST_COMMANDS = 256;
/** Maximum number of connections that have not yet sent a certificate. */
const MOST_STRANGERS = 256;

/** Serves a host's commands to control planes. Uses `host` only in commands, so the caller may create it later. */
export function createHostServer(options: HostServerOptions): HostServer {
  const { host, log, trace, random = systemRandomness, commandWithinMs = COMMAND_WITHIN_MS } = options;
  const queue = createQuestionQueue(() => random.uuid());
  const handlers = commandHandlers(host, queue);
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const idle = createWaitingRoom({ most: MOST_IDLE, withinMs: commandWithinMs });
  const running = new Set<Promise<void>>();
  const unixPaths: string[] = [];
  const closing = new AbortController();
  let isClosing = false;
  let ended: Promise<void> | undefined;

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const work = answer(request, response).catch((err: unknown) => {
      log.error({ err }, 'a request to the host could not be answered');
      response.destroy();
    });
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const name = nameOf(request);
    const handler = name === undefined ? undefined : handlers.get(name);
    if (name === undefined || handler === undefined) {
      return refuse(response, 404, `There is no command ${request.method} ${request.url}`);
    }
    if (isClosing) return refuse(response, 503, 'The host is stopping');
    if (running.size >= MOST_COMMANDS) return refuse(response, 503, 'Too many commands are in progress');
    const body = await readBody(request).catch((error: unknown) => {
      // A client that disconnects while sending needs no answer.
      if (request.destroyed) return undefined;
      throw error;
    });
    if (body === undefined) return;
    // Not idle while the command runs. The control plane limits its time.
    idle.leave(socket);
    response.once('close', () => idle.enter(socket));
    if (body === null) return refuse(response, 413, `A request has at most ${LARGEST_BODY} bytes`);
    let work: Promise<unknown>;
    const isWanted = request.headers[PROGRESS_HEADER] !== undefined;
    let progress: string | null = null;
    let isFirst = true;
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the control plane closed the connection')));
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    const { traceparent } = request.headers;
    const run = () =>
      handler.run(parsedJson(body), signal, (done, total, step) => {
        if (!isWanted) return;
        progress = progressLine(done, total, step);
        // The first one also says that the work has begun, so it must not be lost with the host.
        if (isFirst && response.headersSent) sendProgress();
      });
    try {
      work = trace === undefined || handler.isIdleTalk ? run() : trace({ command: name, traceparent }, run);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return refuse(response, 400, error.message);
    }
    function sendProgress(): void {
      if (progress === null) return;
      response.write(progress);
      [progress, isFirst] = [null, false];
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const beat = setInterval(() => response.write('\n'), BEAT_MS);
    const reports = setInterval(sendProgress, PROGRESS_MS);
    // Control planes send it if they record traces.
    const traceId = parseTraceparent(traceparent)?.traceId;
    const called = { name, isIdleTalk: handler.isIdleTalk, traceId };
    const outcome = await outcomeOf(called, work, signal).finally(() => {
      clearInterval(beat);
      clearInterval(reports);
    });
    sendProgress();
    response.end(JSON.stringify(outcome));
  }

  async function outcomeOf(
    { name, isIdleTalk, traceId }: { name: string; isIdleTalk: boolean; traceId: string | undefined },
    work: Promise<unknown>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const begun = performance.now();
    const took = () => Math.round(performance.now() - begun);
    try {
      const result = (await work) ?? null;
      if (!isIdleTalk) log.info({ command: name, ms: took(), trace_id: traceId }, 'command completed');
      return { result };
    } catch (error) {
      // The control plane sees only the message.
      const isFull = isFullDisk(error);
      const permanent = error instanceof PermanentHostError || isFull;
      const broken = error instanceof BrokenWebsiteError;
      const refused = error instanceof RefusedImportError;
      const unchanged = isUnchanged(error);
      const message = isFull ? FULL_DISK : cut(messageOf(error));
      if (signal.aborted) log.info({ command: name, ms: took(), trace_id: traceId }, 'command cancelled');
      else log.warn({ err: error, command: name, ms: took(), trace_id: traceId }, 'command failed');
      return {
        error: {
          permanent,
          message,
          ...(broken ? { broken } : {}),
          ...(refused ? { refused } : {}),
          ...(unchanged ? { unchanged } : {}),
          ...(error instanceof RefusedRestoreError && error.shown !== error.message
            ? { shown: cut(error.shown) }
            : {}),
          ...(error instanceof RefusedRestoreError && error.isLost ? { lost: true } : {}),
        },
      };
    }
  }

  function follow<Kind extends Server>(server: Kind): Kind {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    return server;
  }

  async function listenUnix(path: string, allowed: Allowed): Promise<void> {
    const http = createServer(LIMITS, onRequest);
    const server = follow(
      createPeerServer({
        ...{ allowed, log, peerOf: options.identify ?? peerOf },
        serve: (socket) => http.emit('connection', socket),
      }),
    );
    server.on('connection', idle.enter);
    await listenAtPath(server, path, allowed.gid);
    unixPaths.push(path);
  }

  async function listenTls(address: ListenAddress, identity: HostIdentity): Promise<number> {
    const server = follow(
      createHttpsServer(
        {
          ...LIMITS,
          cert: identity.certificate,
          key: identity.key,
          // Node also checks the certificate's purpose, so a host's certificate does not open another host.
          ca: [identity.ca],
          requestCert: true,
          rejectUnauthorized: true,
          minVersion: 'TLSv1.3',
          handshakeTimeout: HANDSHAKE_MS,
          keepAlive: true,
        },
        onRequest,
      ),
    );
    const strangers = createWaitingRoom({ most: MOST_STRANGERS, withinMs: HANDSHAKE_MS });
    // Finds the TCP socket of a TLS socket by the client's address and port.
    const arrived = new Map<string, Socket>();
    server.on('connection', (socket: Socket) => {
      const end = farEndOf(socket);
      arrived.set(end, socket);
      socket.once('close', () => arrived.delete(end));
      strangers.enter(socket);
    });
    server.on('secureConnection', (socket) => {
      const plain = arrived.get(farEndOf(socket));
      if (plain !== undefined) strangers.leave(plain);
      idle.enter(socket);
    });
    server.on('tlsClientError', (err, socket) => {
      log.warn(
        { err, remoteAddress: socket.remoteAddress },
        'a client without the certificate of the control plane tried to connect',
      );
      socket.destroy();
    });
    server.listen(address);
    try {
      await once(server, 'listening');
    } catch (cause) {
      const why = messageOf(cause);
      throw new OperatorError(
        `The host cannot listen on ${hostAndPort(address)}: ${why} (setting HOMEPORT_HOST_LISTEN).`,
        { cause },
      );
    }
    const bound = server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : address.port;
  }

  async function end(graceMs: number): Promise<void> {
    isClosing = true;
    queue.close();
    for (const path of unixPaths) await rm(path, { force: true });
    for (const server of servers) server.close();
    const limit = setTimeout(() => closing.abort(new Error('the host is stopping')), graceMs);
    await Promise.race([Promise.all(running), once(closing.signal, 'abort')]);
    clearTimeout(limit);
    for (const socket of sockets) socket.destroy();
  }

  return {
    listenUnix,
    listenTls,
    questions: queue.questions,
    close(graceMs = GRACE_MS) {
      ended ??= end(graceMs);
      return ended;
    },
  };
}

function farEndOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function nameOf({ method, url }: IncomingMessage): string | undefined {
  return method === 'POST' && url?.startsWith(PATH_PREFIX) ? url.slice(PATH_PREFIX.length) : undefined;
}

/** Reads the body; null if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > LARGEST_BODY) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new ProtocolError('the body is not JSON', { cause });
  }
}

/** Closes the connection, because the rest of the request is not read. */
function refuse(response: ServerResponse, status: number, message: string): void {
  const outcome: Outcome = { error: { permanent: status === 400, message } };
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(outcome));
}
