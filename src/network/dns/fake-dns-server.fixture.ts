import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import type { DnsServer } from './client.ts';

/** A received query. */
export interface Query {
  id: number;
  name: string;
  type: string;
  overTcp: boolean;
  hasEdns: boolean;
}

/** Returns the responses to a query, one datagram each. */
export type Behaviour = (query: Query) => Buffer[];

export interface FakeDnsServer extends DnsServer {
  queries: Query[];
  close(): Promise<void>;
}

/** Starts a scripted DNS server on 127.0.0.1, over UDP and TCP. Its answers may be wrong or hostile. */
export async function startFakeDnsServer(behaviour: Behaviour): Promise<FakeDnsServer> {
  const queries: Query[] = [];
  const sockets = new Set<Socket>();

  function answersTo(bytes: Buffer, overTcp: boolean): Buffer[] {
    const packet = decode(bytes);
    const [question] = packet.questions ?? [];
    const hasEdns = (packet.additionals ?? []).some(({ type }) => type === 'OPT');
    const query = {
      id: packet.id ?? 0,
      name: question?.name ?? '',
      type: question?.type ?? '',
      overTcp,
      hasEdns,
    };
    queries.push(query);
    return behaviour(query);
  }

  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', (bytes) => {
      for (const answer of answersTo(bytes.subarray(2), true)) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(length);
        socket.write(answer);
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  const udp = createSocket('udp4');
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  udp.on('message', (bytes, from) => {
    for (const answer of answersTo(bytes, false)) udp.send(answer, from.port, from.address);
  });
  return {
    host: '127.0.0.1',
    port,
    queries,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(() => resolve())),
      ]);
    },
  };
}

export const AA = 1 << 10;
export const TC = 1 << 9;
export const SERVFAIL = 2;
export const NXDOMAIN = 3;
export const REFUSED = 5;

/** Builds a response to a query. `flags` includes the rcode. */
export function reply(query: Query, answers: Answer[] = [], flags = 0, more: Partial<Packet> = {}): Buffer {
  const questions = [{ name: query.name, type: typeOf(query.type) }];
  return encode({ type: 'response', id: query.id, flags, questions, answers, ...more });
}

const TYPES = ['A', 'AAAA', 'CNAME', 'NS', 'MX', 'TXT', 'SOA', 'CAA'] as const;

function typeOf(text: string): (typeof TYPES)[number] {
  const type = TYPES.find((one) => one === text);
  if (type === undefined) throw new Error(`a question for ${text}`);
  return type;
}
