import { RATE_LIMITS, rateLimitKey } from '../access/rate-limits.ts';
import { readOwnCertificate } from '../api/api-certificate.ts';
import type { Authenticator } from '../api/auth.ts';
import { createRateLimiter, type RateLimiter } from '../api/rate-limiter.ts';
import type { Config } from '../config/config.ts';
import { createAccountUserService } from '../features/accounts/account-users/service.ts';
import { createAccountService } from '../features/accounts/accounts/service.ts';
import { createActivityService } from '../features/accounts/activity/service.ts';
import { createEventPlacement } from '../features/accounts/events/placement.ts';
import { createEventService } from '../features/accounts/events/service.ts';
import { createLiveEventService } from '../features/accounts/live-events/service.ts';
import { notifier } from '../features/accounts/notifications/notify.ts';
import { NOTIFIED_TYPES } from '../features/accounts/notifications/rules.ts';
import { createNotificationService } from '../features/accounts/notifications/service.ts';
import { createNoticeLimits } from '../features/accounts/security-notices/job-kinds.ts';
import { createArrivals } from '../features/accounts/webhooks/arrivals.ts';
import { deliveryQueue } from '../features/accounts/webhooks/queue-deliveries.ts';
import { createWebhookService } from '../features/accounts/webhooks/service.ts';
import { createArchiveService } from '../features/backups/archives/service.ts';
import { createBackupBrowsing } from '../features/backups/browsing/service.ts';
import { areBackupsDaily } from '../features/backups/daily-backups.ts';
import { createImportKeyService } from '../features/backups/imports/import-key-service.ts';
import { createImportService } from '../features/backups/imports/service.ts';
import { createNotificationLimits } from '../features/backups/notification-limits.ts';
import { createPlatformCopies } from '../features/backups/platform-copies/service.ts';
import { createRecoveryPointService } from '../features/backups/recovery-points/service.ts';
import { createBackupService } from '../features/backups/service.ts';
import { createStagingService } from '../features/backups/staging/service.ts';
import { createCertificateService } from '../features/domains/certificates/service.ts';
import { createUploadService } from '../features/domains/certificates/uploads/service.ts';
import {
  createDomainOwnershipService,
  type LookUpTxtRecords,
} from '../features/domains/domains/ownership-service.ts';
import { createDomainService } from '../features/domains/domains/service.ts';
import { createDomainReportService } from '../features/domains/status-reports/service.ts';
import { createCapabilityReader } from '../features/hosts/capabilities.ts';
import { createHostService } from '../features/hosts/service.ts';
import { createCredentialService } from '../features/identity/credentials/service.ts';
import { createEmailChangeService } from '../features/identity/email-changes/service.ts';
import { createInvitationService } from '../features/identity/invitations/service.ts';
import { createInvitationLimits } from '../features/identity/limits/mail-limits.ts';
import { createSignInLimits } from '../features/identity/limits/sign-in-limits.ts';
import { createPasskeyService } from '../features/identity/passkeys/service.ts';
import { requirePresentPassword } from '../features/identity/passwords/present-password.ts';
import { createPasswordService } from '../features/identity/passwords/service.ts';
import { createProfileService } from '../features/identity/profile/service.ts';
import { createSecondFactorService } from '../features/identity/second-factor/service.ts';
import { createSessionService } from '../features/identity/sign-in/service.ts';
import { createSshKeyService } from '../features/identity/ssh-keys/service.ts';
import { createDeletedInstallService } from '../features/provisioning/deleted-installs/service.ts';
import { createRebuildService } from '../features/provisioning/lost-hosts/rebuild-service.ts';
import { createLostHostService } from '../features/provisioning/lost-hosts/service.ts';
import { createMoveService } from '../features/provisioning/moves/service.ts';
import { createCancellations } from '../features/provisioning/operations/cancellation.ts';
import { createInstallOperationService } from '../features/provisioning/operations/install-operations.ts';
import { createRetries } from '../features/provisioning/operations/retries.ts';
import { createWebsiteRetry } from '../features/provisioning/operations/retry-website.ts';
import { createOperationService } from '../features/provisioning/operations/service.ts';
import { createInstallDeletion } from '../features/provisioning/removal.ts';
import { createTransferService } from '../features/transfers/service.ts';
import { createChangeService } from '../features/updates/changes/service.ts';
import { createPolicyService } from '../features/updates/policy-service.ts';
import { createRollouts } from '../features/updates/rollouts.ts';
import { createUpdateService } from '../features/updates/service.ts';
import { createUptimeService } from '../features/uptime/service.ts';
import { createUsageService } from '../features/usage/service.ts';
import { createBulkService } from '../features/websites/bulk/service.ts';
import { createCacheService } from '../features/websites/caches/service.ts';
import { createCapabilityService } from '../features/websites/capabilities/service.ts';
import { createDatabaseLinkService } from '../features/websites/database-links/service.ts';
import { createConnectionService, type OwnHost } from '../features/websites/installs/connection-service.ts';
import type { AskForWordPress } from '../features/websites/installs/offered-options.ts';
import { createInstallService } from '../features/websites/installs/service.ts';
import { createLoginLinkService } from '../features/websites/login-links/service.ts';
import { createLogService } from '../features/websites/logs/service.ts';
import { createMailService } from '../features/websites/mail/service.ts';
import { createOffloadService } from '../features/websites/offload/service.ts';
import { createSearchService } from '../features/websites/overview/search.ts';
import { createOverviewService } from '../features/websites/overview/service.ts';
import { createPhpService } from '../features/websites/php/service.ts';
import { createCacheRulesService } from '../features/websites/rules/caching/service.ts';
import { protectionOfNewInstall } from '../features/websites/rules/protection/new-install.ts';
import { createProtectionService } from '../features/websites/rules/protection/service.ts';
import { createRedirectService } from '../features/websites/rules/redirects/service.ts';
import { createSiteService } from '../features/websites/sites/service.ts';
import { createTagService } from '../features/websites/tags/service.ts';
import { createWordPressService } from '../features/websites/wordpress/service.ts';
import { createWpCliService } from '../features/websites/wp-cli/service.ts';
import type { BackupBrowser } from '../hosting/contract/backup-contents.ts';
import { createLongReads } from '../platform/long-reads.ts';
import type { Platform } from '../platform/platform.ts';
import { embeddedPhpBounds } from './embedded-php.ts';
import { heldWordPress } from './held-wordpress.ts';
import type { HostCallers } from './host-callers.ts';
import { createTextLookUp, readRoots } from './network-clients.ts';

export type Services = ReturnType<typeof createServices>;

/** The parts that services share with a serving process; commands have none of them. */
export interface ServingParts extends Partial<HostCallers> {
  authenticator?: Authenticator;
  limiter?: RateLimiter;
  ownHost?: OwnHost;
  lookUpTexts?: LookUpTxtRecords;
  /** The kind of the hosts, which decides what they do for installs; by default the configured one. */
  hostKind?: Config['host'];
  /** Whether the embedded host of this process runs WordPress. */
  wordpressHere?: AskForWordPress;
}

const noConnection = () => Promise.reject(new Error('this process has no connection to hosts'));
const NO_BROWSER: BackupBrowser = {
  browseBackup: noConnection,
  listBackupTables: noConnection,
  readBackupFile: noConnection,
};
const NO_HOST: OwnHost = { listening: () => null, sshHostKeys: async () => [] };

/** Creates every service. */
export function createServices(
  platform: Platform,
  {
    authenticator,
    limiter = createRateLimiter(platform.database, platform.clock, platform.log),
    ownHost = NO_HOST,
    lookUpTexts = createTextLookUp(platform.config),
    readLog = () => Promise.reject(new Error('this process has no connection to hosts')),
    createLogin = () => Promise.reject(new Error('this process has no connection to hosts')),
    createDatabaseLink = () => Promise.reject(new Error('this process has no connection to hosts')),
    backupBrowser = NO_BROWSER,
    readMail = () => Promise.reject(new Error('this process has no connection to hosts')),
    hostKind = platform.config.host,
    wordpressHere = async () => ({ reason: 'The embedded host serves static websites only' }),
  }: ServingParts = {},
) {
  const limits = createSignInLimits(limiter, { perMinute: platform.config.authFailureLimit > 0 });
  const capabilities = createCapabilityReader(platform, hostKind);
  const held = heldWordPress(platform.config);
  const credentials = createCredentialService(platform, limiter, authenticator?.forget);
  const notificationLimits = createNotificationLimits(limiter);
  const backups = createBackupService(platform, notificationLimits, capabilities);
  const caches = createCacheService(platform);
  const domains = createDomainService(platform);
  const cancellations = createCancellations(platform);
  const deleteInstalls = createInstallDeletion(platform);
  const installs = createInstallService(
    platform,
    deleteInstalls,
    (environment) => protectionOfNewInstall(platform, environment),
    wordpressHere,
    capabilities,
    held,
  );
  const archives = createArchiveService(platform, notificationLimits);
  const imports = createImportService(platform, {
    limits: notificationLimits,
    enqueueBackup: backups.enqueueBackup,
    capabilities,
  });
  const certificates = createCertificateService(platform, limiter, (userId, password) =>
    requirePresentPassword(platform.database.reader, limits, { userId, password, resource: 'PrivateKey' }),
  );
  const offload = createOffloadService(platform);
  const wordpress = createWordPressService(platform, capabilities);
  const updates = createUpdateService(platform, capabilities, held);
  const itemChanges = createChangeService(platform, backups.enqueueBackup, capabilities);
  const websiteRetry = createWebsiteRetry(platform);
  const retries = createRetries({
    archives,
    backups,
    caches,
    certificates,
    imports,
    installs,
    itemChanges,
    offload,
    updates,
    websites: websiteRetry,
    wordpress,
  });
  const connections = createConnectionService(platform, ownHost);
  const longReads = createLongReads();
  const webhookArrivals = createArrivals();
  const queueDeliveries = deliveryQueue(platform, webhookArrivals);
  const notify = notifier(platform);
  const eventPlacement = createEventPlacement(
    platform.database,
    async (transaction, events) => {
      await queueDeliveries(transaction, events);
      await notify(transaction, events);
    },
    NOTIFIED_TYPES,
  );
  return {
    accounts: createAccountService(platform),
    accountUsers: createAccountUserService(platform, createInvitationLimits(limiter)),
    sites: createSiteService(platform, deleteInstalls),
    tags: createTagService(platform),
    installs,
    staging: createStagingService(platform, { installs, backups }),
    transfers: createTransferService(platform, limiter),
    domains,
    domainOwnership: createDomainOwnershipService(platform, domains, lookUpTexts),
    domainReports: createDomainReportService(platform),
    certificates,
    certificateUploads: createUploadService(platform, () => {
      const { acmeCa } = platform.config;
      return acmeCa === null ? [] : readRoots(acmeCa);
    }),
    backups,
    platformCopies: createPlatformCopies(platform),
    backupBrowsing: createBackupBrowsing(platform, backupBrowser),
    imports,
    importKeys: createImportKeyService(platform, capabilities),
    archives,
    caches,
    capabilities: createCapabilityService(platform, capabilities),
    bulk: createBulkService({
      backups,
      caches,
      spend: (userId) =>
        limiter.spend(rateLimitKey(RATE_LIMITS.portalRequests, userId), platform.config.rateLimit),
      log: platform.log,
    }),
    offload,
    protection: createProtectionService(platform),
    redirects: createRedirectService(platform),
    cacheRules: createCacheRulesService(platform),
    sshKeys: createSshKeyService(platform),
    invitations: createInvitationService(platform, limits),
    hosts: createHostService(platform),
    credentials,
    sessions: createSessionService(platform, limits),
    passwords: createPasswordService(platform, limits, credentials),
    secondFactor: createSecondFactorService(platform, limits),
    passkeys: createPasskeyService(platform, limits),
    activity: createActivityService(platform),
    eventPlacement,
    events: createEventService(platform, eventPlacement),
    webhooks: createWebhookService(platform, eventPlacement),
    webhookArrivals,
    notifications: createNotificationService(platform),
    overview: createOverviewService(
      platform,
      {
        dailyBackups: areBackupsDaily(platform.config),
        siteDomain: platform.config.siteDomain,
      },
      longReads,
    ),
    search: createSearchService(platform),
    liveEvents: createLiveEventService(platform),
    operations: createOperationService(platform, cancellations, retries),
    retries,
    installOperations: createInstallOperationService(platform, { cancellations, retries }, wordpressHere),
    cancellations,
    connections,
    php: createPhpService(
      platform,
      capabilities,
      hostKind === 'embedded' ? embeddedPhpBounds(platform.config) : null,
    ),
    wpCli: createWpCliService(platform, limiter, capabilities),
    loginLinks: createLoginLinkService(platform, { connections, limiter, createLogin, capabilities }),
    databaseLinks: createDatabaseLinkService(platform, {
      connections,
      limiter,
      createDatabaseLink,
      capabilities,
    }),
    mail: createMailService(platform, readMail, capabilities),
    wordpress,
    logs: createLogService(platform, { readLog }, capabilities),
    deletedInstalls: createDeletedInstallService(platform),
    moves: createMoveService(platform),
    lostHosts: createLostHostService(platform),
    rebuilds: createRebuildService(platform),
    recoveryPoints: createRecoveryPointService(platform),
    websiteRetry,
    profile: createProfileService(platform),
    emailChanges: createEmailChangeService(platform, limits),
    noticeLimits: createNoticeLimits(limiter),
    mailCounter: limiter,
    updates,
    itemChanges,
    updatePolicies: createPolicyService(platform, capabilities),
    rollouts: createRollouts(platform),
    usage: createUsageService(platform, limiter, longReads),
    uptime: createUptimeService(platform),
    ownCertificate: () => readOwnCertificate(platform.config),
  };
}
