import type { Config } from '../config/config.ts';
import { notificationJobKinds } from '../features/accounts/notifications/job-kinds.ts';
import { securityNoticeJobKinds } from '../features/accounts/security-notices/job-kinds.ts';
import { deliveryJobKind } from '../features/accounts/webhooks/delivery/job-kind.ts';
import { webhookJobKinds } from '../features/accounts/webhooks/job-kinds.ts';
import { deliverWebhook } from '../features/accounts/webhooks/jobs.ts';
import { backupJobKinds } from '../features/backups/job-kinds.ts';
import { adoptionKind } from '../features/backups/platform-copies/job-kinds.ts';
import { recoveryPointKinds } from '../features/backups/recovery-points/job-kinds.ts';
import { watchedDomainSettings } from '../features/domains/certificates/changed-authority.ts';
import { expiryWarnings } from '../features/domains/certificates/expiry-warnings.ts';
import { issuanceHooks } from '../features/domains/certificates/issuance-hooks.ts';
import { certificateJobKinds, withoutAuthority } from '../features/domains/certificates/job-kinds.ts';
import { uploadExpiryWarnings } from '../features/domains/certificates/uploads/expiry-warnings.ts';
import { userOrderJobKind } from '../features/domains/certificates/user-orders.ts';
import { ownershipJobKinds } from '../features/domains/domains/ownership-job-kinds.ts';
import { domainReportJobKinds } from '../features/domains/status-reports/job-kinds.ts';
import { reachabilityMonitor } from '../features/domains/status-reports/reachability-monitor.ts';
import { createCapabilityReader } from '../features/hosts/capabilities.ts';
import type { WebsitesClaim } from '../features/hosts/websites-folder.ts';
import { emailChangeJobKinds } from '../features/identity/email-changes/job-kinds.ts';
import { invitationJobKinds } from '../features/identity/invitations/job-kinds.ts';
import { passwordJobKinds } from '../features/identity/passwords/job-kinds.ts';
import { deletedInstallKinds } from '../features/provisioning/deleted-installs/job-kinds.ts';
import { keptBackups } from '../features/provisioning/deleted-installs/kept-backups.ts';
import { loadDesiredState } from '../features/provisioning/desired-state.ts';
import { installJobKinds } from '../features/provisioning/job-kinds.ts';
import { rebuildJobKinds } from '../features/provisioning/lost-hosts/job-kinds.ts';
import { moveJobKinds } from '../features/provisioning/moves/job-kinds.ts';
import { transferJobKinds } from '../features/transfers/job-kinds.ts';
import { changeKind } from '../features/updates/changes/job-kinds.ts';
import { fetchReleasesKind } from '../features/updates/fetch-releases.ts';
import { updateJobKinds } from '../features/updates/job-kinds.ts';
import { updateMailKinds } from '../features/updates/mails.ts';
import { scheduleKind } from '../features/updates/schedule.ts';
import { websiteWatch } from '../features/uptime/watch.ts';
import { usageJobKinds } from '../features/usage/job-kinds.ts';
import { limitWarningJobKinds } from '../features/usage/limit-warnings.ts';
import { cacheJobKinds } from '../features/websites/caches/job-kinds.ts';
import { offloadJobKinds } from '../features/websites/offload/job-kinds.ts';
import { wordpressJobKinds } from '../features/websites/wordpress/job-kinds.ts';
import { wpCliJobKinds } from '../features/websites/wp-cli/job-kinds.ts';
import type { JobKind } from '../jobs/job.ts';
import { createWorker, type Worker, type WorkerParts } from '../jobs/worker.ts';
import { PROGRAM_VERSION } from '../lib/program-version.ts';
import { createMailer } from '../mail/mailer.ts';
import type { SocketLimiters } from '../network/connections/socket-limiters.ts';
import type { ObjectStorage } from '../network/object-storage/object-storage.ts';
import { createS3Storage } from '../network/object-storage/s3.ts';
import type { WebPorts } from '../network/probe/prober.ts';
import type { Sender } from '../network/webhooks/sender.ts';
import type { WatchedSettings } from '../platform/changed-settings.ts';
import type { Platform } from '../platform/platform.ts';
import { dailyPlatformBackup } from '../platform-backup/daily.ts';
import { dailyReleaseCheck } from '../releases/daily-check.ts';
import { createEmbeddedWebsites, websiteParts } from './embedded-websites.ts';
import { heldWordPress } from './held-wordpress.ts';
import { createLinuxFleet, type Websites } from './linux-fleet.ts';
import { maintenance } from './maintenance.ts';
import { createOutside, createTextLookUp } from './network-clients.ts';
import type { Services } from './services.ts';

const DNS_PORT = 53;

type ClosableStorage = ObjectStorage & { close(): void };

/**
 * The hosts of the websites, and the object storage for offload. `claim`: checks that an embedded host's folder is the
 * one of the database, on PostgreSQL.
 */
export function createHost(
  platform: Platform,
  claim: WebsitesClaim,
  connections: SocketLimiters,
): Websites & { objectStorage: ClosableStorage } {
  const { config, log } = platform;
  const objectStorage = createS3Storage({
    endpoint: config.s3Endpoint,
    pathStyle: config.s3PathStyle,
    credentials: config.s3Credentials,
    log,
  });
  const websites =
    config.host === 'linux'
      ? createLinuxFleet(platform)
      : createEmbeddedWebsites(platform, { objectStorage, claim, connections });
  return { ...websites, objectStorage };
}

/** Creates a worker for every kind of job. Throws OperatorError. */
export function createHomeportWorker(
  platform: Platform,
  services: Services,
  websites: ReturnType<typeof createHost>,
  {
    dnsPort = DNS_PORT,
    ...watching
  }: { dnsPort?: number | undefined } & Pick<WorkerParts, 'onEnded' | 'onSettled'> = {},
): {
  worker: Worker;
  /** The names of its kinds. */
  kinds: string[];
  schedules: ReturnType<typeof maintenance>['schedules'];
  watched: WatchedSettings[];
} {
  const { config, database, queue, clock, random, log } = platform;
  const { host, hostOf, answering, objectStorage } = websites;
  const mailer = createMailer(config, clock);
  const { internet, authority, roots } = createOutside(platform, {
    edgePorts: () => edgePortsOf(websites, config),
    dnsPort,
  });
  const issuance = authority && { platform, host, internet, ...authority };
  const certificates = issuance && certificateJobKinds(issuance);
  const warnings = expiryWarnings(platform, mailer);
  const uploadWarnings = uploadExpiryWarnings(platform, mailer);
  const { kinds: upkeep, schedules } = maintenance(platform, {
    warn: [warnings.warn, uploadWarnings.warn],
    order: certificates?.order ?? null,
  });
  const parts = websiteParts(config, clock);
  const platformBackup = dailyPlatformBackup(platform, parts, PROGRAM_VERSION);
  const releases = dailyReleaseCheck(platform);
  const kinds: JobKind[] = [
    ...installJobKinds(platform, host),
    ...deletedInstallKinds(platform, host),
    ...(websites.moving === undefined ? [] : moveJobKinds(platform, websites.moving)),
    ...(websites.moving === undefined ? [] : rebuildJobKinds(platform, websites.moving)),
    ...recoveryPointKinds(platform, websites.moving),
    ...cacheJobKinds(platform, host),
    ...wpCliJobKinds(platform, host),
    ...backupJobKinds(platform, host, mailer, keptBackups, (id) => loadDesiredState(platform, id), hostOf),
    adoptionKind(platform, parts, services.backups.enqueueBackup),
    ...offloadJobKinds(platform, objectStorage),
    ...domainReportJobKinds(platform, {
      host,
      internet,
      issuance: issuance && issuanceHooks(issuance),
    }),
    reachabilityMonitor(platform, { host, internet }),
    websiteWatch(platform, { host, embedded: websites.addresses }),
    ...ownershipJobKinds(platform, mailer, createTextLookUp(config, dnsPort)),
    ...(certificates?.kinds ?? withoutAuthority()),
    userOrderJobKind(platform, issuance),
    ...warnings.kinds,
    ...uploadWarnings.kinds,
    ...invitationJobKinds(services.invitations, mailer, config.invitationDays),
    ...passwordJobKinds(services.passwords, mailer),
    ...emailChangeJobKinds(services.emailChanges, mailer, config),
    ...transferJobKinds(platform, services.mailCounter, mailer),
    ...securityNoticeJobKinds(services.noticeLimits, mailer, config),
    ...updateJobKinds(platform, host),
    changeKind(platform, host),
    scheduleKind(platform, createCapabilityReader(platform, config.host), heldWordPress(config)),
    fetchReleasesKind(platform, websites.fetching),
    ...usageJobKinds(platform, host, answering),
    ...limitWarningJobKinds(platform, mailer),
    ...updateMailKinds(platform, mailer),
    ...wordpressJobKinds(platform, host, answering),
    ...webhookJobKinds(platform, mailer),
    ...notificationJobKinds(platform, services.mailCounter, mailer),
    ...upkeep,
    ...platformBackup.kinds,
    ...releases.kinds,
  ];
  const worker = createWorker({
    database,
    queue,
    kinds,
    clock,
    random,
    log,
    concurrency: config.workers,
    otherKinds: [deliverWebhook.name],
    onCancelled: services.cancellations.end,
    around: platform.tracing?.attempt,
    ...watching,
  });
  return {
    worker,
    kinds: kinds.map(({ name }) => name),
    schedules: [...schedules, ...platformBackup.schedules, ...releases.schedules],
    watched: [...watchedDomainSettings(platform, roots), platformBackup.watched],
  };
}

/** Lanes of webhooks that are delivered at once. They wait for receivers and need hardly any processor time. */
const DELIVERED_AT_ONCE = 300;
/** Lanes of one account at once, so that its slow receivers leave slots for others. */
const DELIVERED_OF_ONE_ACCOUNT = 32;
/** A commit wakes the worker at once. Retries are due after seconds at least. */
const DELIVERY_POLL_MS = 1_000;

/** Creates the separate worker that delivers webhooks, so that receivers take no slots from websites. */
export function createDeliveryWorker(
  platform: Platform,
  { webhookArrivals: arrivals }: Services,
  { sender, otherKinds }: { sender: Sender; otherKinds: string[] },
): Worker {
  return createWorker({
    ...platform,
    log: platform.log.child({}, { level: 'warn' }),
    kinds: [deliveryJobKind(platform, { sender, arrivals })],
    around: platform.tracing?.attempt,
    otherKinds,
    concurrency: DELIVERED_AT_ONCE,
    mostOfOneShare: DELIVERED_OF_ONE_ACCOUNT,
    pollMs: DELIVERY_POLL_MS,
  });
}

function edgePortsOf(websites: Websites, config: Config): WebPorts {
  const { edgeHttp, edgeHttps } = websites.addresses() ?? config;
  return { http: edgeHttp.port, https: edgeHttps.port };
}
