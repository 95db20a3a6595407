import type { RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { silent } from '../../../test/database.ts';
import { type SiteOptions, startPlainServer } from '../../../test/servers/tls-servers.ts';
import { systemClock } from '../../lib/clock.ts';
import type { DnsResolver } from '../dns/resolver.ts';
import { createAddressPolicy } from './address-policy.ts';
import { createProber } from './prober.ts';

/** A signal that never aborts. */
export const never = new AbortController().signal;

export const url = (text = 'http://site.example/') => new URL(text);

/** Servers of the test; `removeServers` stops them. */
export const running: { remove(): Promise<void> }[] = [];

export async function removeServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.remove()));
}

export async function serve(answer: RequestListener, options: SiteOptions = {}): Promise<number> {
  const site = await startPlainServer({ ...options, answer });
  running.push(site);
  return site.port;
}

/** Starts a TCP server that does not speak HTTP. */
export async function serveRaw(onData: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => onData(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    remove: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Answers A queries from lists: the first query for a name gets the first list, and so on. The last list repeats. */
export function fakeResolver(names: Record<string, string[][]>): DnsResolver & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    servers: [],
    async resolve(name, type) {
      const found = names[name];
      if (type === 'A') asked.push(name);
      const turn = asked.filter((one) => one === name).length - 1;
      const addresses = found?.[Math.min(turn, found.length - 1)] ?? [];
      return {
        server: { host: '192.0.2.53', port: 53 },
        rcode: found ? 'NOERROR' : 'NXDOMAIN',
        authoritative: false,
        answers: (type === 'A' ? addresses : []).map((address) => ({
          type: 'A',
          hdr: { name, rrtype: 1, class: 1, ttl: 0, rdlength: 4 },
          address,
        })),
        authorities: [],
        additionals: [],
      };
    },
  };
}

export interface ProberConditions {
  ports?: { http?: number; https?: number };
  names?: Record<string, string[][]>;
  resolver?: DnsResolver;
  limitMs?: number;
}

/** A prober that may contact only 127.0.0.1 and public addresses. */
export function proberWith({ ports, names, resolver, limitMs = 5000 }: ProberConditions = {}) {
  return createProber({
    resolver: resolver ?? fakeResolver(names ?? { 'site.example': [['127.0.0.1']] }),
    policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]),
    clock: systemClock,
    extraRoots: [],
    log: silent,
    portsOf: () => ({ http: 1, https: 1, ...ports }),
    limitMs,
  });
}
