import { once } from 'node:events';
import { chmod, chown, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Allowed, isAllowed, type Peer } from './peer.ts';

/** Passes allowed connections to `serve`. Reads nothing from a connection before it knows the user. */
export function createPeerServer({
  allowed,
  peerOf,
  log,
  serve,
}: {
  allowed: Allowed;
  peerOf: (socket: Socket) => Promise<Peer>;
  log: Logger;
  serve: (socket: Socket) => void;
}): Server {
  return createServer({ pauseOnConnect: true }, (socket) => {
    // A client may disconnect during the check.
    socket.on('error', (err) => log.debug({ err }, 'a connection to the host broke'));
    peerOf(socket).then(
      (peer) => {
        if (isAllowed(peer, allowed)) {
          serve(socket);
          socket.resume();
        } else {
          log.warn(
            { uid: peer.uid },
            'refused a connection of a user without permission to command the host',
          );
          turnAway(socket);
        }
      },
      (err: unknown) => {
        log.error({ err }, 'could not identify the user of a connection to the host');
        socket.destroy();
      },
    );
  });
}

/**
 * Listens at a path, for this user and the group (0660). Replaces the socket of a killed process. Throws OperatorError if
 * another process listens there.
 */
export async function listenAtPath(server: Server, path: string, gid: number): Promise<void> {
  if (await isAnswered(path)) {
    throw new OperatorError(`Another "homeport host" listens at ${path}. Stop that one first.`);
  }
  // Created under another name, so that the path never has a socket with the wrong permissions.
  const beside = `${path}.${process.pid}`;
  await rm(beside, { force: true });
  server.listen(beside);
  await once(server, 'listening');
  await chown(beside, process.geteuid?.() ?? 0, gid);
  await chmod(beside, 0o660);
  await rename(beside, path);
}

/** Whether a process listens at the path. A killed process leaves a socket file without a listener. */
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

/** Answers 403 with the reason and closes the connection, without reading from it. */
function turnAway(socket: Socket): void {
  const message = 'this user may not command it; add the user to the group of HOMEPORT_HOST_GROUP';
  const body = JSON.stringify({ error: { permanent: false, message } });
  const head = [
    'HTTP/1.1 403 Forbidden',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
