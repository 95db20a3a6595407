import { once } from 'node:events';
import { chmod, chown, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Allowed, isAllowed, peerOf } from './peer.ts';

/** Hands over to `serve` the connections of those who may connect. Nothing is read from one before that is known. */
export function createPeerServer({
  allowed,
  log,
  serve,
}: {
  allowed: Allowed;
  log: Logger;
  serve: (socket: Socket) => void;
}): Server {
  return createServer({ pauseOnConnect: true }, (socket) => {
    // Whoever goes while being looked at is nobody to tell.
    socket.on('error', (err) => log.debug({ err }, 'a connection to the host broke'));
    peerOf(socket).then(
      (peer) => {
        if (isAllowed(peer, allowed)) {
          serve(socket);
          socket.resume();
        } else {
          log.warn({ uid: peer.uid }, 'somebody who may not command the host tried to');
          turnAway(socket);
        }
      },
      (err: unknown) => {
        log.error({ err }, 'could not find out who connects to the host');
        socket.destroy();
      },
    );
  });
}

/**
 * Listens at a path, for this user and the group to use (0660). What a killed process left there is replaced. Throws
 * OperatorError if somebody listens there.
 */
export async function listenAtPath(server: Server, path: string, gid: number): Promise<void> {
  if (await isAnswered(path)) {
    throw new OperatorError(`Another "homeport host" listens at ${path}. Stop that one first.`);
  }
  // Made beside its place, so that nobody finds it there with other rights than it will have.
  const beside = `${path}.${process.pid}`;
  await rm(beside, { force: true });
  server.listen(beside);
  await once(server, 'listening');
  await chown(beside, process.geteuid?.() ?? 0, gid);
  await chmod(beside, 0o660);
  await rename(beside, path);
}

/** A socket file that nobody listens on is a killed process's. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Says why before it closes; nothing of what was sent is read. */
function turnAway(socket: Socket): void {
  const message = 'this user may not command it; whoever may is in the group of HOMEPORT_HOST_GROUP';
  const body = JSON.stringify({ error: { permanent: false, message } });
  const head = [
    'HTTP/1.1 403 Forbidden',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
