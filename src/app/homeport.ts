import type { Logger } from 'pino';
import { loadApiCertificate } from '../api/api-certificate.ts';
import { createAuthenticator } from '../api/auth.ts';
import { trustsAddress } from '../api/client-address.ts';
import { createGate } from '../api/gate.ts';
import { healthPages } from '../api/health-pages.ts';
import { createIdempotency } from '../api/idempotency.ts';
import { BUILT_PORTAL, portalPages } from '../api/portal-pages.ts';
import { publicFolder, publishCertificate } from '../api/public-certificate.ts';
import { createRateLimiter } from '../api/rate-limiter.ts';
import { createReadiness } from '../api/readiness.ts';
import { createServer } from '../api/server.ts';
import { createSharedCertificate } from '../api/shared-certificate.ts';
import type { Config, ListenAddress } from '../config/config.ts';
import { startPlacing } from '../features/accounts/events/placing.ts';
import { unsubscribePage } from '../features/accounts/notifications/unsubscribe/routes.ts';
import { backupDownloads } from '../features/backups/downloads/routes.ts';
import type { HostingAddresses } from '../features/hosts/hosting-addresses.ts';
import { claimWebsites } from '../features/hosts/websites-folder.ts';
import { createScheduler } from '../jobs/schedule.ts';
import type { Clock } from '../lib/clock.ts';
import { repeatEvery } from '../lib/concurrency.ts';
import { DAY_MS } from '../lib/durations.ts';
import { codeOf, hasCode } from '../lib/error-code.ts';
import { hostAndPort } from '../lib/host-and-port.ts';
import type { Randomness } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Announce } from '../lib/start-steps.ts';
import { measuredWork } from '../metrics/measured-work.ts';
import { createMeasurements } from '../metrics/measurements.ts';
import { startMetrics } from '../metrics/server.ts';
import { createSocketLimiters } from '../network/connections/socket-limiters.ts';
import { settleChangedSettings } from '../platform/changed-settings.ts';
import type { Platform } from '../platform/platform.ts';
import { embeddedHostKeys } from './embedded-websites.ts';
import { createDeliveryWorker, createHomeportWorker, createHost } from './homeport-worker.ts';
import { createHostCallers, type HostCallers } from './host-callers.ts';
import { createLazyFleet } from './lazy-fleet.ts';
import type { Websites } from './linux-fleet.ts';
import { createTextLookUp, createWebhookSender } from './network-clients.ts';
import { openPlatform } from './open-platform.ts';
import { createPackedReader } from './packed-reader.ts';
import { apiRoutes, portalRoutes } from './routes.ts';
import { createServices, type Services } from './services.ts';
import { askForWordPress } from './serving-socket.ts';
import { createShutdown } from './shutdown.ts';
import { startTracing } from './start-tracing.ts';
import { noteServed } from './upgrade-copy.ts';

const GRACE_MS = 10_000;

/** Dependencies that tests replace, and the portal's folder. */
export interface Surroundings {
  log: Logger;
  clock?: Clock;
  random?: Randomness;
  /** Tells the service manager about the start, if one has started this process. */
  announce?: Announce | undefined;
  /** The folder of the built portal, or its promise while it is being built. Default: that of `npm run build`. */
  portalFolder?: string | Promise<string>;
  /** Replace those of the hosts. */
  hostCallers?: Partial<HostCallers>;
  /** The kind of the hosts, which decides what they do for installs; by default the configured one. */
  hostKind?: Config['host'];
  /** Port of authoritative name servers; 53 outside of tests. */
  dnsPort?: number;
  /** Whether schedules run; false in tests. */
  schedules?: boolean;
}

/** The roles of a process. Additional processes run the API or the worker only. */
export interface Roles {
  api: boolean;
  /** The worker, the schedules, and the edge and SSH gateway of this machine. */
  hosting: boolean;
}

export interface RunningHomeport {
  platform: Platform;
  services: Services;
  /** The API's address; null in a process without it. */
  api: ListenAddress | null;
  /** The addresses of the edge and the SSH gateway; null in a process without them, and until a host has reported them. */
  hosting: HostingAddresses | null;
  /** Makes WordPress ready for new websites; undefined in processes whose host does not run it. */
  prepareWordPress: Websites['prepareWordPress'];
  /** Resolves when no job is due or running. */
  idle(): Promise<void>;
  /**
   * Shuts down gracefully: requests and jobs in progress get `graceMs` (10 s) in all, everything together `wholeMs` (14
   * s). Returns the steps that failed or did not end in time; the log has the reasons.
   */
  stop(graceMs?: number, wholeMs?: number): Promise<string[]>;
}

/** Starts Homeport: migrates, serves, works. Throws OperatorError for faults that the operator can fix. */
export async function startHomeport(
  config: Config,
  surroundings: Surroundings,
  roles: Roles,
): Promise<RunningHomeport> {
  const tracing = await startTracing('', config, surroundings);
  const platform = await openPlatform(config, { ...surroundings, tracing });
  const { announce } = surroundings;
  const { database, clock, random, log, queue } = platform;
  const authenticator = createAuthenticator(database, clock, (error) =>
    log.warn({ err: error }, 'could not store the last uses of credentials'),
  );
  let websites: ReturnType<typeof createHost> | undefined;
  const lazyFleet = createLazyFleet(platform);
  const connections = createSocketLimiters({
    isTrusted: (address) => trustsAddress(config.trustProxy, address),
    log,
    clock,
  });
  const limiter = createRateLimiter(database, clock, log);
  const hosts = () => websites?.host ?? lazyFleet.host();
  const ownHost = () => websites?.host;
  const services = createServices(platform, {
    authenticator,
    limiter,
    lookUpTexts: createTextLookUp(config, surroundings.dnsPort),
    ownHost: {
      listening: () => websites?.addresses() ?? null,
      sshHostKeys: () => embeddedHostKeys(config),
    },
    ...createHostCallers(platform, hosts, ownHost),
    ...surroundings.hostCallers,
    wordpressHere: async () => (await websites?.wordpressHere?.()) ?? askForWordPress(config),
    ...(surroundings.hostKind === undefined ? {} : { hostKind: surroundings.hostKind }),
  });
  const measurements = config.metricsListen === null ? null : await createMeasurements();
  const readiness = createReadiness(database, clock);
  const shutdown = createShutdown(log);
  // The last step, so that the spans of the others are sent.
  if (tracing !== undefined) shutdown.add('traces', () => tracing.stop());
  shutdown.add('database', () => database.close());
  shutdown.add('connections to hosts', () => lazyFleet.close());
  const stop = (graceMs = GRACE_MS, wholeMs?: number) => {
    readiness.stop();
    return shutdown.run(graceMs, wholeMs);
  };

  try {
    const hosting = roles.hosting ? await startHosting() : null;
    const api = roles.api ? await startApi() : null;
    if (config.metricsListen !== null && measurements !== null) {
      const answering = websites?.answering ?? (async () => []);
      const parts = { measurements, readiness, connections, answering };
      const metrics = await startMetrics(platform, config.metricsListen, parts);
      shutdown.add('metrics', () => metrics.close());
    }
    // The first step: requests in progress can take so long that the process is killed before the worker stops.
    if (hosting !== null)
      shutdown.add('notice of the stop', () => void hosting.workers.map((one) => one.announceStop()));
    await noteServed(config, log);
    return {
      platform,
      services,
      api,
      hosting: hosting?.addresses ?? null,
      prepareWordPress: websites?.prepareWordPress,
      idle: async () => hosting?.workers[0]?.idle(),
      stop,
    };
  } catch (error) {
    await stop(0);
    throw error;
  }

  async function startHosting() {
    websites = createHost(platform, claimWebsites, connections);
    const { host, objectStorage } = websites;
    await announce?.('Starting the websites');
    shutdown.add('object storage', () => objectStorage.close());
    await host.start();
    shutdown.add('websites', (graceMs) => host.stop(graceMs));
    // Before the first job: a new install may have the name of an orphan.
    const reconciling = await websites.startReconciling();
    shutdown.add('reconciliation', () => reconciling.stop());
    const made = createHomeportWorker(platform, services, websites, {
      dnsPort: surroundings.dnsPort,
      ...(measurements === null ? {} : measuredWork(platform, measurements)),
    });
    const { worker, schedules, watched } = made;
    await settleChangedSettings(platform, watched);
    worker.start();
    shutdown.add('worker', (graceMs) => worker.stop(graceMs));
    const sender = createWebhookSender(config);
    shutdown.add('sender of webhooks', () => sender.close());
    const webhooks = createDeliveryWorker(platform, services, { sender, otherKinds: made.kinds });
    webhooks.start();
    shutdown.add('webhooks', (graceMs) => webhooks.stop(graceMs));
    const placing = startPlacing(platform, services.eventPlacement);
    shutdown.add('placing of events', () => placing.stop());
    const scheduler = createScheduler({ database, queue, clock, log, schedules });
    if (surroundings.schedules ?? true) scheduler.start();
    shutdown.add('schedules', () => scheduler.stop());
    return { addresses: websites.addresses(), workers: [worker, webhooks] };
  }

  /** Loads the API's certificate and publishes it for clients of other users. */
  async function presentCertificate() {
    const pair = await loadApiCertificate(config, clock, createSharedCertificate(platform));
    try {
      await publishCertificate(config, pair.cert);
    } catch (err) {
      log.warn(
        { err, folder: publicFolder(config.dataDir) },
        'could not publish the certificate, so clients of other users cannot read it; "homeport doctor" says what to do',
      );
    }
    return pair;
  }

  async function startApi(): Promise<ListenAddress> {
    await announce?.('Starting the API');
    const gate = createGate({
      authenticator,
      sessions: services.sessions,
      limiter,
      config,
    });
    const { app, listener } = await createServer({
      config,
      routes: apiRoutes(platform, services),
      portalRoutes: portalRoutes(services),
      gate,
      idempotency: createIdempotency(platform, limiter),
      certificate: await presentCertificate(),
      connections: connections.api,
      random,
      log,
      ...(measurements === null ? {} : { onAnswered: measurements.request }),
      tracing,
      pages: [
        healthPages(readiness),
        backupDownloads({
          archives: services.archives,
          files: services.backupBrowsing,
          readPacked: websites?.host.readPacked ?? createPackedReader(platform, lazyFleet),
          admit: gate.anonymous,
        }),
        unsubscribePage({
          notifications: services.notifications,
          admit: gate.anonymous,
          publicUrl: config.publicUrl,
        }),
        portalPages({ folder: surroundings.portalFolder ?? BUILT_PORTAL, publicUrl: config.publicUrl }),
      ],
    });
    shutdown.add('last uses of credentials', () => authenticator.flush());
    shutdown.add('last uses of sessions', () => services.sessions.flush());
    shutdown.add('API', async (graceMs) => {
      // Event streams end only with their sessions.
      services.liveEvents.close();
      services.logs.close();
      services.operations.close();
      await listener.close(graceMs);
      await app.close();
    });
    const renewal = repeatEvery(async () => listener.setCertificate(await presentCertificate()), {
      delayMs: DAY_MS,
      onError: (err) => log.error({ err }, "could not reload the API's certificate; trying again tomorrow"),
    });
    shutdown.add('certificate renewal', () => renewal.stop());
    return listen(listener, config.listen);
  }
}

async function listen(
  listener: { listen(address: ListenAddress): Promise<ListenAddress> },
  address: ListenAddress,
): Promise<ListenAddress> {
  try {
    return await listener.listen(address);
  } catch (error) {
    const where = hostAndPort(address);
    if (hasCode(error, 'EADDRINUSE')) {
      throw new OperatorError(
        `${where} is in use. Stop what uses it, or choose another address in HOMEPORT_LISTEN.`,
      );
    }
    if (hasCode(error, 'EACCES', 'EADDRNOTAVAIL')) {
      throw new OperatorError(
        `${where} cannot be listened on (${codeOf(error)}). Choose another address in HOMEPORT_LISTEN.`,
      );
    }
    throw error;
  }
}
