import type { Logger } from 'pino';
import { loadApiCertificate } from './api/api-certificate.ts';
import { createAuthenticator } from './api/auth.ts';
import { createGate } from './api/gate.ts';
import { createRateLimiter } from './api/limits.ts';
import { createServer } from './api/server.ts';
import type { Clock } from './clock.ts';
import type { Config, ListenAddress } from './config/config.ts';
import { DAY_MS } from './durations.ts';
import { createEmbeddedWebsites, embeddedHostKeys } from './embedded-websites.ts';
import { codeOf, hasCode } from './error-code.ts';
import { hostAndPort } from './host-and-port.ts';
import type { HostingAddresses } from './hosting/hosting-addresses.ts';
import type { ObjectStorage } from './hosting/object-storage.ts';
import { createS3Storage } from './hosting/s3.ts';
import type { Randomness } from './ids.ts';
import type { JobKind } from './jobs/job.ts';
import { createScheduler } from './jobs/schedule.ts';
import { createWorker, type Worker } from './jobs/worker.ts';
import { createLinuxFleet, type Websites } from './linux-fleet.ts';
import { createMailer } from './mail/mailer.ts';
import { maintenance } from './maintenance.ts';
import { startMetrics } from './metrics/server.ts';
import { openPlatform } from './open-platform.ts';
import { OperatorError } from './operator-error.ts';
import type { VisitedPorts } from './outbound/visitor.ts';
import { createOutside } from './outside.ts';
import type { Platform } from './platform.ts';
import { BUILT_PORTAL, portalPages } from './portal/pages.ts';
import { backupJobKinds } from './resources/backups/job-kinds.ts';
import { cacheJobKinds } from './resources/caches/job-kinds.ts';
import { expiryWarnings } from './resources/certificates/expiry-warnings.ts';
import { issuanceHooks } from './resources/certificates/hooks.ts';
import { certificateJobKinds } from './resources/certificates/job-kinds.ts';
import { domainReportJobKinds } from './resources/domain-reports/job-kinds.ts';
import { domainLookKind } from './resources/domain-reports/looks.ts';
import { emailChangeJobKinds } from './resources/email-changes/job-kinds.ts';
import { installJobKinds } from './resources/installs/job-kinds.ts';
import { invitationJobKinds } from './resources/invitations/job-kinds.ts';
import { offloadJobKinds } from './resources/offload/job-kinds.ts';
import { passwordJobKinds } from './resources/passwords/job-kinds.ts';
import { securityNoticeJobKinds } from './resources/security-notices/job-kinds.ts';
import { apiRoutes, createServices, portalRoutes, type Services } from './services.ts';

/** What else the parts are made from, besides the configuration. */
export interface Surroundings {
  log: Logger;
  clock?: Clock;
  random?: Randomness;
  /** Where the portal was built; where `npm run build` does but in tests. */
  portalFolder?: string;
  /** Port of authoritative name servers; 53 but where a test's own stand elsewhere. */
  dnsPort?: number;
  /** Whether work is asked for at its times; false in tests. */
  schedules?: boolean;
}

const DNS_PORT = 53;

type ClosableStorage = ObjectStorage & { close(): void };

/** What runs the websites, and the object storage that they offload to. */
export function createHost(platform: Platform): Websites & { objectStorage: ClosableStorage } {
  const { config, log } = platform;
  const objectStorage = createS3Storage({
    endpoint: config.s3Endpoint,
    pathStyle: config.s3PathStyle,
    credentials: config.s3Credentials,
    log,
  });
  const websites =
    config.host === 'linux' ? createLinuxFleet(platform) : createEmbeddedWebsites(platform, objectStorage);
  return { ...websites, objectStorage };
}

/** A worker for every kind of job. Throws OperatorError. */
export function createHomeportWorker(
  platform: Platform,
  services: Services,
  websites: ReturnType<typeof createHost>,
  dnsPort = DNS_PORT,
): { worker: Worker; schedules: ReturnType<typeof maintenance>['schedules'] } {
  const { config, database, queue, clock, random, log } = platform;
  const { host, hostOf, objectStorage } = websites;
  const mailer = createMailer(config, clock);
  const { internet, authority } = createOutside(platform, {
    edgePorts: () => edgePortsOf(websites, config),
    dnsPort,
  });
  const issuance = authority && { platform, host, internet, ...authority };
  const certificates = issuance && certificateJobKinds(issuance);
  const warnings = expiryWarnings(platform, mailer);
  const { kinds: upkeep, schedules } = maintenance(platform, {
    warn: warnings.warn,
    order: certificates?.order ?? null,
  });
  const kinds: JobKind[] = [
    ...installJobKinds(platform, host),
    ...cacheJobKinds(platform, host),
    ...backupJobKinds(platform, host, mailer, hostOf),
    ...offloadJobKinds(platform, objectStorage),
    ...domainReportJobKinds(platform, {
      host,
      internet,
      issuance: issuance && issuanceHooks(issuance),
    }),
    domainLookKind(platform, { host, internet }),
    ...(certificates?.kinds ?? []),
    ...warnings.kinds,
    ...invitationJobKinds(services.invitations, mailer, config.invitationDays),
    ...passwordJobKinds(services.passwords, mailer),
    ...emailChangeJobKinds(services.emailChanges, mailer, config),
    ...securityNoticeJobKinds(services.noticeLimits, mailer, config),
    ...upkeep,
  ];
  const worker = createWorker({ database, queue, kinds, clock, random, log, concurrency: config.workers });
  return { worker, schedules };
}

function edgePortsOf(websites: Websites, config: Config): VisitedPorts {
  const { edgeHttp, edgeHttps } = websites.addresses() ?? config;
  return { http: edgeHttp.port, https: edgeHttps.port };
}

/** Which parts a process runs. More processes beside the first run the API or the worker alone. */
export interface Roles {
  api: boolean;
  /** The worker, the schedules, and the edge and SSH gateway of this machine. */
  hosting: boolean;
}

export interface RunningHomeport {
  platform: Platform;
  services: Services;
  /** Where the API listens; null in a process without it. */
  api: ListenAddress | null;
  /** Where the edge and the SSH gateway listen; null in a process without them, and where no host has said so yet. */
  hosting: HostingAddresses | null;
  /** Resolves when no job is due or running. */
  idle(): Promise<void>;
  /** Ends gracefully: requests and jobs under way are finished, for at most `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** Starts Homeport: migrates, serves, works. Throws OperatorError for what its operator can mend. */
export async function startHomeport(
  config: Config,
  surroundings: Surroundings,
  roles: Roles,
): Promise<RunningHomeport> {
  const platform = await openPlatform(config, surroundings);
  const { database, clock, random, log, queue } = platform;
  const authenticator = createAuthenticator(database, clock, (error) =>
    log.warn({ err: error }, 'could not write down when credentials were used'),
  );
  let websites: ReturnType<typeof createHost> | undefined;
  const limiter = createRateLimiter(database, clock);
  const services = createServices(platform, {
    authenticator,
    limiter,
    ownHost: {
      listening: () => websites?.addresses() ?? null,
      sshHostKeys: () => embeddedHostKeys(config),
    },
  });
  /** Undoes what was started, latest first. */
  const started: ((graceMs: number) => Promise<void>)[] = [() => database.close()];
  const stop = async (graceMs = 10_000) => {
    for (const end of started.splice(0).reverse()) await end(graceMs);
  };

  try {
    const hosting = roles.hosting ? await startHosting() : null;
    const api = roles.api ? await startApi() : null;
    if (config.metricsListen !== null) {
      const metrics = await startMetrics(platform, config.metricsListen);
      started.push(() => metrics.close());
    }
    return {
      platform,
      services,
      api,
      hosting: hosting?.addresses ?? null,
      idle: async () => hosting?.worker.idle(),
      stop,
    };
  } catch (error) {
    await stop(0);
    throw error;
  }

  async function startHosting() {
    websites = createHost(platform);
    const { host, objectStorage } = websites;
    started.push(async () => objectStorage.close());
    await host.start();
    started.push(() => host.stop());
    const { worker, schedules } = createHomeportWorker(platform, services, websites, surroundings.dnsPort);
    worker.start();
    started.push((graceMs) => worker.stop(graceMs));
    const scheduler = createScheduler({ database, queue, clock, log, schedules });
    if (surroundings.schedules ?? true) scheduler.start();
    started.push(() => scheduler.stop());
    return { addresses: websites.addresses(), worker };
  }

  async function startApi(): Promise<ListenAddress> {
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
      certificate: await loadApiCertificate(config, clock),
      random,
      log,
      pages: async (pages) => {
        await pages.register(
          portalPages({ folder: surroundings.portalFolder ?? BUILT_PORTAL, publicUrl: config.publicUrl }),
        );
      },
    });
    started.push(() => authenticator.flush());
    started.push(() => services.sessions.flush());
    started.push(async (graceMs) => {
      // They end by themselves only with their sessions.
      services.liveEvents.close();
      await listener.close(graceMs);
      await app.close();
    });
    const renewal = setInterval(() => {
      loadApiCertificate(config, clock)
        .then((pair) => listener.setCertificate(pair))
        .catch((error: unknown) => log.error({ err: error }, "could not load the API's certificate again"));
    }, DAY_MS).unref();
    started.push(async () => clearInterval(renewal));
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
