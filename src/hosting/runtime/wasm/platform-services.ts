import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer, isIP, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '../../../lib/concurrency.ts';
import type { LookUp, PhpSitesOptions } from './php-sites.ts';
import { SERVICE_DONE, SERVICE_REFUSED, type ServiceRequest } from './process-protocol.ts';
import { rememberUnanswered, Unanswered, type UnansweredQuestions } from './unanswered.ts';

const LONGEST_LINE = 8 * 1024;
const LONGEST_MAIL = 32 * 1024 * 1024;
const CONNECT_MS = 10_000;
/** For each address of a name but the last. A lost first packet is sent again after a second. */
const ATTEMPT_MS = 2_000;
/** The system's resolver may need half a minute if no name server answers. */
const LOOK_UP_MS = 5_000;
const IDLE_MS = 120_000;
/** Connections of one website at the same time. */
export const MOST_CONNECTIONS = 64;

export type ServiceOptions = Pick<
  PhpSitesOptions,
  'mayConnect' | 'loopback' | 'loopbacks' | 'deliverMail' | 'log' | 'lookUp'
> & {
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  /** How long a website waits for the address of a name. */
  lookUpMs?: number;
};

/** Connects a website to a host and port, as PHP named them. Rejects what its rules forbid. */
export type ConnectOut = (host: string, port: number) => Promise<Socket>;

interface Connecting extends Omit<ServiceOptions, 'now' | 'lookUpMs'> {
  lookUp: LookUp;
  unanswered: UnansweredQuestions;
}

const systemLookUp: LookUp = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Listens on a socket that a website's process uses: for connections to the outside, whose destination is checked here, and for mail.
 * The process has no other way out.
 */
export async function listenForProcess(
  path: string,
  siteId: string,
  options: ServiceOptions,
  connectOut: ConnectOut = connectionsOf(siteId, options),
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket, siteId, options, connectOut).catch((error) => {
      options.log.debug({ err: error, install: siteId }, 'a request of PHP to the outside failed');
      if (socket.writable) socket.end(SERVICE_REFUSED);
      else socket.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(path);
  await once(server, 'listening');
  return server;
}

/** The connections of a website to the outside, whose destinations are checked here. */
export function connectionsOf(siteId: string, options: ServiceOptions): ConnectOut {
  // The system's resolver runs few look-ups of the whole platform at once, and name servers that do not answer take many seconds.
  const oneAtATime = limitConcurrency(1);
  const ask: LookUp = options.lookUp ?? systemLookUp;
  const unanswered = rememberUnanswered(options.now ?? (() => performance.now()));
  const lookUp: LookUp = (host) =>
    unanswered.ask(host, () => {
      let isAsked = false;
      const answer = oneAtATime(() => {
        isAsked = true;
        return ask(host);
      });
      return answerInTime(host, answer, { isAsked: () => isAsked, ms: options.lookUpMs ?? LOOK_UP_MS });
    });
  return (host, port) => connectTo(siteId, { host, port }, { ...options, lookUp, unanswered });
}

async function serve(
  socket: Socket,
  siteId: string,
  options: ServiceOptions,
  connectOut: ConnectOut,
): Promise<void> {
  const { line, rest } = await firstLine(socket);
  const request = parsed(line);
  if (request.service === 'mail') {
    const chunks = [rest];
    let bytes = rest.length;
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > LONGEST_MAIL) throw new Error('the email is too long');
      chunks.push(chunk);
    }
    await options.deliverMail({ siteId, message: Buffer.concat(chunks), arguments: request.arguments });
    socket.end(SERVICE_DONE);
    return;
  }
  const target = await connectOut(request.host, request.port);
  socket.write(SERVICE_DONE);
  if (rest.length > 0) target.write(rest);
  joinSockets(socket, target);
}

/** Passes on what both send, until one ends. */
export function joinSockets(socket: Socket, target: Socket): void {
  socket.on('close', () => target.destroy());
  target.on('close', () => socket.destroySoon());
  target.on('error', () => socket.destroy());
  target.setTimeout(IDLE_MS, () => target.destroy());
  socket.pipe(target).pipe(socket);
}

/** Connects to the first address that answers of those that the website may use. */
async function connectTo(
  siteId: string,
  { host, port }: { host: string; port: number },
  { loopback, loopbacks, mayConnect, lookUp, unanswered }: Connecting,
): Promise<Socket> {
  const own = loopback({ siteId, host, port });
  if (own !== undefined) {
    const socket = await connected(own.host, own.port, [own.host]);
    loopbacks.add(siteId, socket);
    return socket;
  }
  const addresses = isIP(host) ? [host] : await lookUp(host);
  // Connected by address, so that a second look-up cannot lead elsewhere.
  const allowed = addresses.filter((one) => mayConnect(one, port));
  if (allowed.length === 0) throw new Error(`websites may not connect to ${host} port ${port}`);
  return unanswered.ask(`${host} ${port}`, () => connected(host, port, allowed));
}

/**
 * Throws Unanswered if no answer comes in time, or one that the name does not exist. A name that waited for another one all the time was not
 * asked for: another error.
 */
async function answerInTime(
  host: string,
  answer: Promise<string[]>,
  { isAsked, ms }: { isAsked(): boolean; ms: number },
): Promise<string[]> {
  const timer = new AbortController();
  const late = sleep(ms, [], { signal: timer.signal }).then(() => {
    if (isAsked()) throw new Unanswered(`the name servers do not answer about ${host}`);
    throw new UnaskedError(`another look-up takes so long that ${host} was not looked up`);
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    if (error instanceof Unanswered || error instanceof UnaskedError) throw error;
    throw new Unanswered(`${host} was not found`, { cause: error });
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}

class UnaskedError extends Error {}

/** Tries the addresses one after the other, both families in turn: a machine may have no way out by IPv6. */
async function connected(host: string, port: number, addresses: string[]): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host,
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    lookup: (_host, _options, callback) => callback(null, found),
  });
  const timer = setTimeout(
    () => socket.destroy(new Unanswered(`${host} does not answer at port ${port}`)),
    CONNECT_MS,
  );
  try {
    await once(socket, 'connect');
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

function parsed(line: string): ServiceRequest {
  const value: unknown = JSON.parse(line);
  if (typeof value === 'object' && value !== null && 'service' in value) {
    if (value.service === 'connect' && 'host' in value && 'port' in value) {
      const { host, port } = value;
      if (typeof host === 'string' && typeof port === 'number') return { service: 'connect', host, port };
    }
    if (value.service === 'mail' && 'arguments' in value && Array.isArray(value.arguments)) {
      return { service: 'mail', arguments: value.arguments.map(String) };
    }
  }
  throw new Error('not a request');
}

function firstLine(socket: Socket): Promise<{ line: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf('\n');
      if (end === -1 && read.length <= LONGEST_LINE) return;
      socket.off('data', onData);
      socket.pause();
      if (end === -1) reject(new Error('the line is too long'));
      else resolve({ line: read.toString('utf8', 0, end), rest: read.subarray(end + 1) });
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error('closed')));
  });
}
