import { createServer, type ServerResponse } from 'node:http';
import { HEALTH_PATHS, healthAt } from '../api/health.ts';
import type { Readiness } from '../api/readiness.ts';
import type { ListenAddress } from '../config/config.ts';
import { hostAndPort } from '../lib/host-and-port.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { SocketLimiters } from '../network/connections/socket-limiters.ts';
import type { Platform } from '../platform/platform.ts';
import { createExposition } from './exposition.ts';
import { readFigures } from './figures.ts';
import type { Measurements } from './measurements.ts';

/** Queries the database at most this often, however often metrics are scraped. */
const KEPT_MS = 5_000;
const LIMITS = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 5_000 };

export interface MetricsServer {
  address: ListenAddress;
  close(): Promise<void>;
}

/** Serves metrics for Prometheus at `/metrics`, and `/healthz` and `/readyz`, over plain HTTP. Throws OperatorError if the address is unavailable. */
export async function startMetrics(
  { database, clock, log }: Pick<Platform, 'database' | 'clock' | 'log'>,
  address: ListenAddress,
  parts: { measurements: Measurements; readiness: Readiness; connections: SocketLimiters },
): Promise<MetricsServer> {
  const exposition = await createExposition(parts.measurements, parts.connections);
  let kept: { at: number; text: Promise<string> } | null = null;

  function present(): Promise<string> {
    const now = clock.now().getTime();
    // The clock may have been set back since.
    if (kept === null || Math.abs(now - kept.at) >= KEPT_MS) {
      const text = Promise.resolve()
        .then(() => readFigures(database, clock))
        .then((figures) => exposition.text(figures));
      kept = { at: now, text };
      // The next scrape retries after a failure.
      text.catch(() => {
        kept = null;
      });
    }
    return kept.text;
  }

  async function answer(response: ServerResponse): Promise<void> {
    try {
      const text = await present();
      response.writeHead(200, { 'Content-Type': exposition.contentType, 'Cache-Control': 'no-store' });
      response.end(text);
    } catch (err) {
      log.error({ err }, 'could not read metrics from the database');
      response.writeHead(503, { 'Content-Type': 'text/plain' }).end('The database does not answer.\n');
    }
  }

  const server = createServer(LIMITS, (request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const health = HEALTH_PATHS.find((one) => one === path);
    if (isRead && path === '/metrics') void answer(response);
    else if (isRead && health !== undefined) {
      void healthAt(health, parts.readiness).then(({ status, text }) =>
        response.writeHead(status, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }).end(text),
      );
    } else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Metrics are at /metrics.\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const where = hostAndPort(address);
      reject(
        new OperatorError(
          `Metrics cannot be served on ${where} (${cause.message}). Choose another address in HOMEPORT_METRICS_LISTEN.`,
          { cause },
        ),
      );
    });
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : address.port;
  return {
    address: { host: address.host, port },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
