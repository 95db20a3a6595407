import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Server } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostAndPort } from '../../lib/host-and-port.ts';

/** An address to listen on. Port 0 lets the system choose one. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** Of the first socket, sd_listen_fds(3). */
const FIRST_DESCRIPTOR = 3;
/** State of a socket that listens, in the tables of proc_net(5). */
const LISTENING = '0A';
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** Descriptors of listening sockets by their addresses. */
type InheritedSockets = Map<string, number>;

/** The sockets that systemd has handed to a process. Connections wait in them while the service restarts. */
function inheritedSockets(
  { LISTEN_PID, LISTEN_FDS }: Record<string, string | undefined>,
  pid: number,
): InheritedSockets {
  const found: InheritedSockets = new Map();
  if (LISTEN_PID !== String(pid)) return found;
  const addresses = listeningAddresses();
  for (let fd = FIRST_DESCRIPTOR; fd < FIRST_DESCRIPTOR + Number(LISTEN_FDS); fd++) {
    const address = addresses.get(readlinkSync(`/proc/self/fd/${fd}`));
    if (address !== undefined) found.set(address, fd);
  }
  return found;
}

/** Addresses of this machine's listening sockets, by what the links of their descriptors contain. Node cannot ask a descriptor. */
function listeningAddresses(): Map<string, string> {
  const found = new Map<string, string>();
  for (const table of TABLES) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === LISTENING) found.set(`socket:[${inode}]`, local);
    }
  }
  return found;
}

/** An address as these tables have it: words of 32 bits, whose bytes are reversed on each platform of Homeport. Null for a name. */
function tableForm({ host, port }: ListenAddress): string | null {
  if (!ipaddr.isValid(host)) return null;
  const bytes = Buffer.from(ipaddr.parse(host).toByteArray()).swap32();
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

function addressOf(form: string): ListenAddress {
  const [words = '', port = ''] = form.split(':');
  const host = ipaddr.fromByteArray([...Buffer.from(words, 'hex').swap32()]).toString();
  return { host, port: Number.parseInt(port, 16) };
}

const OWN = inheritedSockets(process.env, process.pid);

/** Inherited sockets that no server listens on, once all listen. Connections to them wait until their clients give up. */
export const untakenSockets = (): string[] => [...OWN.keys()].map((form) => hostAndPort(addressOf(form)));

/** Long enough for a request in transit, and for the next one of a busy client, which learns from the answer that the connection ends. */
const LINGER_MS = 1_000;

/**
 * How long connections without a request stay open while a server stops. Closed at once, they would fail requests in transit. That only pays
 * if new connections find a socket.
 */
export const HAND_OVER_LINGER_MS = OWN.size > 0 ? LINGER_MS : 0;

/**
 * Lets a server listen on an address, by the socket that this process has inherited for it, or by a new one. Returns the address with its
 * port. Rejects with the error of the system.
 */
export async function bindServer(server: Server, address: ListenAddress): Promise<ListenAddress> {
  const form = tableForm(address) ?? '';
  const fd = OWN.get(form);
  // Closing the server closes the descriptor.
  OWN.delete(form);
  server.listen(fd === undefined ? { host: address.host, port: address.port } : { fd });
  await once(server, 'listening');
  const bound = server.address();
  return {
    host: address.host,
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
  };
}
