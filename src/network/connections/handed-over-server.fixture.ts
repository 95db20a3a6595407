/**
 * A process that serves HTTP and HTTPS as the edge does, on the addresses 127.0.0.1:PORT of its arguments, until SIGTERM. Answers take a
 * moment, so that some are in progress at any time. Once it is ready, it prints the inherited sockets that it has no use for.
 */
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { limiterFor } from '../../../test/connections.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { HTTP_OVER_TLS, limitConnections } from './http-connections.ts';
import type { HttpHandler } from './http-messages.ts';
import { HTTP2, serveHttp2 } from './http2-connections.ts';
import { untakenSockets } from './inherited-sockets.ts';
import { drainable, listen } from './listener.ts';

const GRACE_MS = 10_000;
const ANSWER_MS = 20;

const [port = 0, securePort = 0] = process.argv.slice(2).map(Number);
const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
const limiter = limiterFor('edge', { total: 1_000, perBlock: 1_000 });
const log = pino({ enabled: false });
const handle: HttpHandler = (request, response) => {
  request.resume();
  void pause(ANSWER_MS).then(() => response.end(String(process.pid)));
};
const http = createServer(handle);
const https = createSecureServer({ cert: chain, key, ALPNProtocols: [HTTP2, ...HTTP_OVER_TLS] }, handle);
const http2 = serveHttp2(https, { limiter, idleMs: 60_000, requestMs: 60_000, handle, log });
for (const server of [http, https]) limitConnections(server, limiter);
const drains = [drainable(http, 'http'), drainable(https, 'https', http2)];
await listen(http, { host: '127.0.0.1', port }, 'HOMEPORT_EDGE_HTTP');
await listen(https, { host: '127.0.0.1', port: securePort }, 'HOMEPORT_EDGE_HTTPS');
process.once('SIGTERM', () => {
  void Promise.all(drains.map((drain) => drain(GRACE_MS))).then(() => process.exit());
});
process.stdout.write(`ready, without ${untakenSockets().join(', ')}\n`);
