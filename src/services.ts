import { readOwnCertificate } from './api/api-certificate.ts';
import type { Authenticator } from './api/auth.ts';
import { createRateLimiter, type RateLimiter } from './api/limits.ts';
import type { Route } from './api/route.ts';
import type { Platform } from './platform.ts';
import { accountUserPortalRoutes } from './resources/account-users/portal-routes.ts';
import { accountUserRoutes } from './resources/account-users/routes.ts';
import { createAccountUserService } from './resources/account-users/service.ts';
import { accountPortalRoutes } from './resources/accounts/portal-routes.ts';
import { accountRoutes } from './resources/accounts/routes.ts';
import { createAccountService } from './resources/accounts/service.ts';
import { activityRoutes } from './resources/activity/routes.ts';
import { createActivityService } from './resources/activity/service.ts';
import { createNotificationLimits } from './resources/backups/notification-limits.ts';
import { backupPortalRoutes } from './resources/backups/portal-routes.ts';
import { backupRoutes } from './resources/backups/routes.ts';
import { createBackupService } from './resources/backups/service.ts';
import { cacheRoutes } from './resources/caches/routes.ts';
import { createCacheService } from './resources/caches/service.ts';
import { certificateRoutes } from './resources/certificates/routes.ts';
import { createCertificateService } from './resources/certificates/service.ts';
import { credentialRoutes } from './resources/credentials/routes.ts';
import { createCredentialService } from './resources/credentials/service.ts';
import { domainReportPortalRoutes } from './resources/domain-reports/portal-routes.ts';
import { domainReportRoutes } from './resources/domain-reports/routes.ts';
import { createDomainReportService } from './resources/domain-reports/service.ts';
import { domainPortalRoutes } from './resources/domains/portal-routes.ts';
import { domainRoutes } from './resources/domains/routes.ts';
import { createDomainService } from './resources/domains/service.ts';
import { emailChangeRoutes } from './resources/email-changes/routes.ts';
import { createEmailChangeService } from './resources/email-changes/service.ts';
import { createHostService } from './resources/hosts/service.ts';
import { createConnectionService, type OwnHost } from './resources/installs/connection-service.ts';
import { createOperationsService } from './resources/installs/operations.ts';
import { installPortalRoutes } from './resources/installs/portal-routes.ts';
import { installRoutes } from './resources/installs/routes.ts';
import { createInstallService } from './resources/installs/service.ts';
import { createInvitationLimits } from './resources/invitations/invitation-limits.ts';
import { invitationRoutes } from './resources/invitations/routes.ts';
import { createInvitationService } from './resources/invitations/service.ts';
import { liveEventRoutes } from './resources/live-events/routes.ts';
import { createLiveEventService } from './resources/live-events/service.ts';
import { offloadPortalRoutes } from './resources/offload/portal-routes.ts';
import { offloadRoutes } from './resources/offload/routes.ts';
import { createOffloadService } from './resources/offload/service.ts';
import { overviewRoutes } from './resources/overview/routes.ts';
import { createSearchService } from './resources/overview/search.ts';
import { createOverviewService } from './resources/overview/service.ts';
import { passwordRoutes } from './resources/passwords/routes.ts';
import { createPasswordService } from './resources/passwords/service.ts';
import { secondFactorRoutes } from './resources/second-factor/routes.ts';
import { createSecondFactorService } from './resources/second-factor/service.ts';
import { createNoticeLimits } from './resources/security-notices/notice-limits.ts';
import { serviceStatusRoutes } from './resources/service-status/routes.ts';
import { sessionRoutes } from './resources/sessions/routes.ts';
import { createSessionService } from './resources/sessions/service.ts';
import { createSignInLimits } from './resources/sessions/sign-in-limits.ts';
import { severalRoutes } from './resources/several/portal-routes.ts';
import { createSeveralService } from './resources/several/service.ts';
import { siteRoutes } from './resources/sites/routes.ts';
import { createSiteService } from './resources/sites/service.ts';
import { sshKeyPortalRoutes } from './resources/ssh-keys/portal-routes.ts';
import { sshKeyRoutes } from './resources/ssh-keys/routes.ts';
import { createSshKeyService } from './resources/ssh-keys/service.ts';
import { profileRoutes } from './resources/user/portal-routes.ts';
import { createProfileService } from './resources/user/profile.ts';
import { userRoutes } from './resources/user/routes.ts';

export type Services = ReturnType<typeof createServices>;

/** What services share with the rest of a process that serves; a command has none of it. */
export interface ServingParts {
  authenticator?: Authenticator;
  limiter?: RateLimiter;
  ownHost?: OwnHost;
}

const NO_HOST: OwnHost = { listening: () => null, sshHostKeys: async () => [] };

/** Every service, made from the platform's parts. */
export function createServices(
  platform: Platform,
  {
    authenticator,
    limiter = createRateLimiter(platform.database, platform.clock),
    ownHost = NO_HOST,
  }: ServingParts = {},
) {
  const limits = createSignInLimits(limiter, { perMinute: platform.config.authFailureLimit > 0 });
  const credentials = createCredentialService(platform, authenticator?.forget);
  const backups = createBackupService(platform, createNotificationLimits(limiter));
  const caches = createCacheService(platform);
  return {
    accounts: createAccountService(platform),
    accountUsers: createAccountUserService(platform, createInvitationLimits(limiter)),
    sites: createSiteService(platform),
    installs: createInstallService(platform),
    domains: createDomainService(platform),
    domainReports: createDomainReportService(platform),
    certificates: createCertificateService(platform),
    backups,
    caches,
    several: createSeveralService({ backups, caches }),
    offload: createOffloadService(platform),
    sshKeys: createSshKeyService(platform),
    invitations: createInvitationService(platform, limits),
    hosts: createHostService(platform),
    credentials,
    sessions: createSessionService(platform, limits),
    passwords: createPasswordService(platform, limits, credentials),
    secondFactor: createSecondFactorService(platform, limits),
    activity: createActivityService(platform),
    overview: createOverviewService(platform),
    search: createSearchService(platform),
    liveEvents: createLiveEventService(platform),
    operations: createOperationsService(platform),
    connections: createConnectionService(platform, ownHost),
    profile: createProfileService(platform),
    emailChanges: createEmailChangeService(platform, limits),
    noticeLimits: createNoticeLimits(limiter),
    ownCertificate: () => readOwnCertificate(platform.config),
  };
}

/** Every endpoint of the specification but `/swagger`, which describes the others. */
export function apiRoutes({ config, database, clock }: Platform, services: Services): Route[] {
  const { siteDomain } = config;
  return [
    ...serviceStatusRoutes(database, clock),
    ...accountRoutes(services.accounts),
    ...accountUserRoutes(services.accountUsers),
    ...siteRoutes(services.sites, siteDomain),
    ...installRoutes(services.installs, siteDomain),
    ...offloadRoutes(services.offload),
    ...domainRoutes(services.domains, { siteDomain, clock }),
    ...domainReportRoutes(services.domainReports),
    ...certificateRoutes(services.certificates, config.acmeContact),
    ...backupRoutes(services.backups),
    ...cacheRoutes(services.caches),
    ...userRoutes(services.profile),
    ...sshKeyRoutes(services.sshKeys),
  ];
}

/** The portal's own endpoints, besides those of the API. */
export function portalRoutes(services: Services): Route[] {
  return [
    ...sessionRoutes(services.sessions),
    ...passwordRoutes(services.passwords),
    ...secondFactorRoutes(services.secondFactor),
    ...profileRoutes(services.profile),
    ...emailChangeRoutes(services.emailChanges),
    ...credentialRoutes(services.credentials, services.ownCertificate),
    ...sshKeyPortalRoutes(services.sshKeys),
    ...invitationRoutes(services.invitations),
    ...accountPortalRoutes(services.accounts),
    ...accountUserPortalRoutes(services.accountUsers),
    ...activityRoutes(services.activity),
    ...overviewRoutes(services.overview, services.search),
    ...liveEventRoutes(services.liveEvents),
    ...severalRoutes(services.several),
    ...installPortalRoutes(services.operations, services.connections),
    ...domainPortalRoutes(services.domains),
    ...domainReportPortalRoutes(services.domainReports),
    ...backupPortalRoutes(services.backups),
    ...offloadPortalRoutes(services.offload),
  ];
}
