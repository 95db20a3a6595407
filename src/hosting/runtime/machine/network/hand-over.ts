/** Runs inside the network of a website. Hands its listener and the socket of its name server to the platform, and ends with the platform's line. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import process from 'node:process';

const LISTENER_FD = 4;
const names = createSocket('udp4');
const connections = createServer();

process.once('disconnect', () => process.exit());
names.bind(53, '127.0.0.1', () => {
  connections.listen({ fd: LISTENER_FD }, () => {
    process.send?.('connections', connections, () => process.send?.('names', names));
  });
});
