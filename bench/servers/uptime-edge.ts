import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';

/** The edge of bench/uptime.ts, in a separate process. It answers every name with the same page, which no cache has. */
const PAGE = gzipSync(
  `<!doctype html><title>Bench</title>${'<p class="wp-block-paragraph">A page.</p>'.repeat(800)}`,
);

const answer: RequestListener = (request, response) => {
  if (request.headers['cache-control'] === 'only-if-cached') {
    response.writeHead(504, { 'content-length': 0 }).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(PAGE);
};
const { chain, key } = await createSelfSigned({ names: ['*.localhost'], notBefore: new Date(), days: 2 });

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const http = await portOf(createHttpServer(answer));
const https = await portOf(createHttpsServer({ cert: chain, key }, answer));
process.send?.({ http, https });
process.on('disconnect', () => process.exit());
