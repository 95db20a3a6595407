import { createServer, type ServerResponse } from 'node:http';
import { HEALTH_PATHS, healthAt } from '../api/health.ts';
import type { Readiness } from '../api/readiness.ts';
import type { ListenAddress } from '../config/config.ts';
import { backupAges } from '../features/backups/backup-ages-store.ts';
import { areBackupsDaily } from '../features/backups/daily-backups.ts';
import { recoveryAges } from '../features/backups/recovery-points/ages-store.ts';
import { lateMs } from '../features/backups/recovery-points/rules.ts';
import { areRecoveryPointsMade } from '../features/backups/recovery-points/schedule.ts';
import { fleetCertificates } from '../features/domains/certificates/fleet-certificates-store.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { hostAndPort } from '../lib/host-and-port.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { SocketLimiters } from '../network/connections/socket-limiters.ts';
import type { Platform } from '../platform/platform.ts';
import { createExposition } from './exposition.ts';
import { readFigures } from './figures.ts';
import { createHostFigures, type MeasuredHost } from './host-figures.ts';
import type { Measurements } from './measurements.ts';

/** Queries the database at most this often, however often metrics are scraped. */
const KEPT_MS = 5_000;
/** What needs a look at every install: the ages of backups, and certificates. */
const FLEET_KEPT_MS = 5 * MINUTE_MS;
/** Daily backups spread over a night, so two may be further apart than a day. */
const RECENT_MS = 26 * HOUR_MS;
const LIMITS = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 5_000 };

export interface MetricsServer {
  address: ListenAddress;
  close(): Promise<void>;
}

/** Serves metrics for Prometheus at `/metrics`, and `/healthz` and `/readyz`, over plain HTTP. Throws OperatorError if the address is unavailable. */
export async function startMetrics(
  { config, database, clock, log }: Pick<Platform, 'config' | 'database' | 'clock' | 'log'>,
  address: ListenAddress,
  parts: {
    measurements: Measurements;
    readiness: Readiness;
    connections: SocketLimiters;
    /** The hosts that answer this process. */
    answering(): Promise<MeasuredHost[]>;
  },
): Promise<MetricsServer> {
  const exposition = await createExposition(parts.measurements, parts.connections);
  const readHosts = createHostFigures(parts.answering, log);
  const failed = (err: unknown) =>
    log.warn({ err }, 'could not look at all installs for metrics; will retry');
  const ages = renewed(clock, () => backupAges(database.reader, timestamp(clock, -RECENT_MS)), failed);
  const points = renewed(
    clock,
    () => recoveryAges(database.reader, timestamp(clock, -lateMs(config.recoveryPointMinutes))),
    failed,
  );
  const certificates = renewed(clock, () => fleetCertificates(database.reader), failed);
  const present = keptFor(KEPT_MS, clock, async () => {
    const [figures, issued, backups, recovery, measured] = await Promise.all([
      readFigures(database, clock),
      certificates(),
      areBackupsDaily(config) ? ages() : null,
      areRecoveryPointsMade(config) ? points() : [],
      readHosts(),
    ]);
    return exposition.text({ ...figures, ...issued, backups, recovery, measured });
  });

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

/** Makes something again if it is older than `ms`, or could not be made. */
function keptFor<Result>(ms: number, clock: Clock, make: () => Promise<Result>): () => Promise<Result> {
  let kept: { at: number; made: Promise<Result> } | null = null;
  return () => {
    const now = clock.now().getTime();
    // The clock may have been set back since.
    if (kept !== null && Math.abs(now - kept.at) < ms) return kept.made;
    const made = Promise.resolve().then(make);
    kept = { at: now, made };
    made.catch(() => {
      if (kept?.made === made) kept = null;
    });
    return made;
  };
}

/**
 * Makes something again if it is older than {@link FLEET_KEPT_MS}, and returns the former one meanwhile: with a million installs that takes
 * longer than Prometheus waits.
 */
function renewed<Result>(
  clock: Clock,
  make: () => Promise<Result>,
  failed: (error: unknown) => void,
): () => Promise<Result> {
  let kept: { at: number; made: Promise<Result> } | null = null;
  let next: Promise<Result> | null = null;
  return () => {
    const now = clock.now().getTime();
    if (kept !== null && Math.abs(now - kept.at) < FLEET_KEPT_MS) return kept.made;
    if (next !== null) return kept?.made ?? next;
    const made = Promise.resolve().then(make);
    next = made;
    made
      .then(() => {
        kept = { at: now, made };
      }, failed)
      .finally(() => {
        next = null;
      });
    return kept?.made ?? made;
  };
}
