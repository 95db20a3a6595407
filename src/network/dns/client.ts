import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { hostAndPort } from '../../lib/host-and-port.ts';
import type { DnsRecord } from './record.ts';
import { type DnsMessage, type DnsQuestion, decodeResponse, encodeQuestion, RRTYPES } from './wire.ts';

export type { DnsQuestion } from './wire.ts';

/** A DNS server; `host` is an IP address. */
export interface DnsServer {
  host: string;
  port: number;
}

export interface DnsAnswer {
  server: DnsServer;
  /** NOERROR, NXDOMAIN, SERVFAIL, REFUSED … */
  rcode: string;
  authoritative: boolean;
  /** Without records of types that Homeport does not read, as in the other sections. */
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

/** No valid answer came in time. */
export class DnsTimeout extends Error {
  override name = 'DnsTimeout';
}

/** The server refused the connection, has no route, or does not speak DNS. */
export class DnsUnreachable extends Error {
  override name = 'DnsUnreachable';
}

const ATTEMPT_MS = 1500;
/** Two attempts over UDP; the rest of the time is for late answers and TCP. */
const ATTEMPTS_IN_ALL = 3;

/**
 * Sends one query to one server over UDP with EDNS, repeats it once after `attemptMs`, and uses TCP if the answer is
 * truncated. Ignores answers to other questions or from other addresses (RFC 5452 section 9). Gives up after three times
 * `attemptMs`, or when `signal` aborts. Throws DnsTimeout, DnsUnreachable, or RangeError for an invalid name.
 */
export async function askServer(
  server: DnsServer,
  question: DnsQuestion,
  options: { signal: AbortSignal; attemptMs?: number },
): Promise<DnsAnswer> {
  const { attemptMs = ATTEMPT_MS } = options;
  const limit = AbortSignal.any([options.signal, AbortSignal.timeout(attemptMs * ATTEMPTS_IN_ALL)]);
  const query = { server, question, edns: true, limit };
  let message = await overUdp(query, attemptMs);
  if (message.rcode === 'FORMERR' || message.rcode === 'NOTIMP') {
    // The server does not support EDNS (RFC 6891 section 7).
    query.edns = false;
    message = await overUdp(query, attemptMs);
  }
  if (message.truncated) message = await overTcp(query);
  const { rcode, authoritative, answers, authorities, additionals } = message;
  return { server, rcode, authoritative, answers, authorities, additionals };
}

interface Query {
  server: DnsServer;
  question: DnsQuestion;
  edns: boolean;
  limit: AbortSignal;
}

function overUdp({ server, question, edns, limit }: Query, attemptMs: number): Promise<DnsMessage> {
  return new Promise((resolve, reject) => {
    const sockets: Socket[] = [];
    let malformed: unknown = null;
    let ended = false;

    function end(finish: () => void): void {
      if (ended) return;
      ended = true;
      clearTimeout(again);
      limit.removeEventListener('abort', giveUp);
      for (const socket of sockets) socket.close();
      finish();
    }

    function giveUp(): void {
      end(() => reject(malformed === null ? timeout(server) : noDns(server, malformed)));
    }

    /** Uses a new socket and port for each attempt. The earlier socket stays open for a late answer. */
    function send(): void {
      const id = randomInt(0x1_0000);
      const query = encodeQuestion(id, question, edns);
      const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
      sockets.push(socket);
      socket.on('error', (cause) => end(() => reject(unreachable(server, cause))));
      socket.on('connect', () => socket.send(query));
      socket.on('message', (bytes, from) => {
        const peer = ended ? null : socket.remoteAddress();
        if (peer?.port !== from.port || peer.address !== from.address) return;
        try {
          const message = decodeResponse(bytes);
          if (answersTo(message, id, question)) end(() => resolve(message));
        } catch (error) {
          malformed = error;
        }
      });
      // A connected socket drops packets of other senders and reports a closed port.
      socket.connect(server.port, server.host);
    }

    const again = setTimeout(send, attemptMs);
    if (limit.aborted) {
      giveUp();
      return;
    }
    limit.addEventListener('abort', giveUp);
    try {
      send();
    } catch (error) {
      end(() => reject(error));
    }
  });
}

/** RFC 1035 section 4.2.2: two bytes of length, then the message, so at most 64 KiB. */
function overTcp({ server, question, edns, limit }: Query): Promise<DnsMessage> {
  return new Promise((resolve, reject) => {
    const id = randomInt(0x1_0000);
    const query = encodeQuestion(id, question, edns);
    const socket = connect({ host: server.host, port: server.port });
    let received = Buffer.alloc(0);

    function end(finish: () => void): void {
      limit.removeEventListener('abort', giveUp);
      socket.destroy();
      finish();
    }

    function giveUp(): void {
      end(() => reject(timeout(server)));
    }

    socket.on('error', (cause) => end(() => reject(unreachable(server, cause))));
    socket.on('end', () => end(() => reject(noDns(server, 'the connection ended before the answer did'))));
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.length);
      socket.write(Buffer.concat([length, query]));
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      try {
        const message = decodeResponse(received.subarray(2, 2 + received.readUInt16BE(0)));
        const fits = answersTo(message, id, question) && !message.truncated;
        end(() => (fits ? resolve(message) : reject(noDns(server, 'it answers another question'))));
      } catch (error) {
        end(() => reject(noDns(server, error)));
      }
    });
    if (limit.aborted) giveUp();
    else limit.addEventListener('abort', giveUp);
  });
}

function answersTo(message: DnsMessage, id: number, question: DnsQuestion): boolean {
  if (message.id !== id) return false;
  // A server that cannot read the query may not repeat its question.
  if (message.question === null) return message.rcode === 'FORMERR' || message.rcode === 'NOTIMP';
  const { name, rrtype } = message.question;
  return name === question.name.toLowerCase() && rrtype === RRTYPES[question.type];
}

function timeout(server: DnsServer): DnsTimeout {
  return new DnsTimeout(`The DNS server ${hostAndPort(server)} did not answer in time.`);
}

function unreachable(server: DnsServer, cause: unknown): DnsUnreachable {
  return new DnsUnreachable(`The DNS server ${hostAndPort(server)} cannot be reached.`, { cause });
}

function noDns(server: DnsServer, cause: unknown): DnsUnreachable {
  return new DnsUnreachable(`The server at ${hostAndPort(server)} does not speak DNS.`, { cause });
}
