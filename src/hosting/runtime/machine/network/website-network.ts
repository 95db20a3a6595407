import { type ChildProcess, spawn } from 'node:child_process';
import { Socket as DatagramSocket } from 'node:dgram';
import { type FileHandle, open } from 'node:fs/promises';
import { Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { type ConnectOut, joinSockets, MOST_CONNECTIONS } from '../../wasm/platform-services.ts';
import { UnconfinedError } from '../../wasm/unconfined-error.ts';
import { createStandInNames } from './names.ts';

/** Programs of this machine that make a network. */
export interface NetworkPrograms {
  ip: string;
  nft: string;
  /** PHP's command line, with the settings that load its sockets. */
  php: readonly string[];
}

/**
 * The network of one website: no other process is in it, and nothing leads out of it. All connections, to whichever address and port, arrive at a
 * listener of the platform, which connects where the website may. Host names get stand-in addresses.
 */
export interface WebsiteNetwork {
  /** Namespaces for programs that join it. */
  user: FileHandle;
  network: FileHandle;
  close(): Promise<void>;
}

const PORT = 1080;
/** Further packets never reach the platform, whose time all websites share. A resolver asks for two records of each name, a dropped connection tries again. */
const NAMES_PER_SECOND = 100;
const OPENED_PER_SECOND = 200;
/** All addresses are local ones, and all connections go to the listener. Packets of other protocols than TCP find no receiver. */
const RULES = `table ip homeport {
  chain connections {
    type filter hook prerouting priority mangle;
    udp dport 53 limit rate over ${NAMES_PER_SECOND}/second burst ${NAMES_PER_SECOND} packets drop
    tcp flags & (syn | ack) == syn limit rate over ${OPENED_PER_SECOND}/second burst ${OPENED_PER_SECOND} packets drop
    meta l4proto tcp tproxy to :${PORT}
  }
}
`;
/** The shell reads nothing but these arguments, and the rules for nft. */
const SET_UP =
  '"$1" link set lo up && "$1" route add local 0.0.0.0/0 dev lo && "$2" -f - && shift 2 && exec "$@"';

/**
 * Makes the network of a website.
 *
 * @throws UnconfinedError if this machine cannot
 */
export async function createWebsiteNetwork(
  { ip, nft, php }: NetworkPrograms,
  { siteId, connectOut, log }: { siteId: string; connectOut: ConnectOut; log: Logger },
): Promise<WebsiteNetwork> {
  const own = [join(import.meta.dirname, 'listen.php'), String(PORT)];
  const node = [process.execPath, join(import.meta.dirname, 'hand-over.ts')];
  const child = spawn(
    'unshare',
    [
      ...['--user', '--map-root-user', '--net', '--', 'sh', '-c', SET_UP, 'sh'],
      ...[ip, nft, ...php, ...own, ...node],
    ],
    { env: { PATH: process.env.PATH ?? '' }, detached: true, stdio: ['pipe', 'ignore', 'pipe', 'ipc'] },
  );
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(RULES);
  const names = createStandInNames();
  const opened: FileHandle[] = [];
  let server: Server | null = null;
  let nameServer: DatagramSocket | null = null;
  /** Connections of PHP that are open. */
  const sockets = new Set<Socket>();

  async function close(): Promise<void> {
    server?.close();
    nameServer?.close();
    for (const socket of sockets) socket.destroy();
    for (const handle of opened) await handle.close();
  }

  function accept(socket: Socket): void {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.allowHalfOpen = true;
    const { localAddress: address = '', localPort: port = 0 } = socket;
    connectOut(names.nameOf(address) ?? address, port).then(
      (target) => {
        if (socket.destroyed) target.destroy();
        else joinSockets(socket, target);
      },
      (err: unknown) => {
        log.debug({ err, install: siteId }, 'a connection of PHP to the outside failed');
        socket.resetAndDestroy();
      },
    );
  }

  try {
    await handedOver(child, (handle) => {
      if (handle instanceof Server) server = handle;
      else if (handle instanceof DatagramSocket) nameServer = handle;
      return server !== null && nameServer !== null;
    });
    for (const name of ['user', 'net']) opened.push(await open(`/proc/${child.pid}/ns/${name}`));
    const [user, network] = opened;
    // Their assignments in the callback are unknown to the compiler.
    const taken: { server: Server | null; names: DatagramSocket | null } = { server, names: nameServer };
    if (user === undefined || network === undefined || taken.server === null || taken.names === null) {
      throw new Error('the network is not whole');
    }
    const { server: listener, names: questions } = taken;
    listener.maxConnections = MOST_CONNECTIONS;
    listener.on('connection', accept);
    listener.on('error', (err) => log.debug({ err, install: siteId }, 'the network of a website failed'));
    questions.on('message', (query, { port, address }) => {
      const answer = names.answer(query);
      if (answer !== null) questions.send(answer, port, address);
    });
    questions.on('error', (err) => log.debug({ err, install: siteId }, 'a name of a website failed'));
    return { user, network, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    child.kill('SIGKILL');
    if (child.connected) child.disconnect();
  }
}

/** Waits until everything has been handed over. */
async function handedOver(child: ChildProcess, take: (handle: unknown) => boolean): Promise<void> {
  const messages = child.stderr === null ? Promise.resolve('') : text(child.stderr).catch(() => '');
  const whole = new Promise<'whole'>((resolve) => {
    child.on('message', (_message, handle) => {
      if (take(handle)) resolve('whole');
    });
  });
  const ended = new Promise<'ended'>((resolve, reject) => {
    child.once('exit', () => resolve('ended'));
    child.once('error', (error) => reject(UnconfinedError.from(error, '')));
  });
  if ((await Promise.race([whole, ended])) === 'ended') {
    throw UnconfinedError.from(new Error('the network of a website could not be made'), await messages);
  }
}
