import { readOwnCertificate } from './api/api-certificate.ts';
import type { Authenticator } from './api/auth.ts';
import { createRateLimiter, personKey, type RateLimiter } from './api/limits.ts';
import { createTextLookUp } from './outside.ts';
import type { Platform } from './platform.ts';
import { createAccountUserService } from './resources/account-users/service.ts';
import { createAccountService } from './resources/accounts/service.ts';
import { createActivityService } from './resources/activity/service.ts';
import { createNotificationLimits } from './resources/backups/notification-limits.ts';
import { createBackupService } from './resources/backups/service.ts';
import { createCacheService } from './resources/caches/service.ts';
import { createCertificateService } from './resources/certificates/service.ts';
import { createCredentialService } from './resources/credentials/service.ts';
import { createDomainReportService } from './resources/domain-reports/service.ts';
import { createDomainOwnershipService, type LookUpTexts } from './resources/domains/ownership-service.ts';
import { createDomainService } from './resources/domains/service.ts';
import { createEmailChangeService } from './resources/email-changes/service.ts';
import { createHostService } from './resources/hosts/service.ts';
import { createConnectionService, type OwnHost } from './resources/installs/connection-service.ts';
import { createOperationsService } from './resources/installs/operations.ts';
import { createInstallService } from './resources/installs/service.ts';
import { createInvitationLimits } from './resources/invitations/invitation-limits.ts';
import { createInvitationService } from './resources/invitations/service.ts';
import { createLiveEventService } from './resources/live-events/service.ts';
import { createOffloadService } from './resources/offload/service.ts';
import { createSearchService } from './resources/overview/search.ts';
import { createOverviewService } from './resources/overview/service.ts';
import { createPasswordService } from './resources/passwords/service.ts';
import { createSecondFactorService } from './resources/second-factor/service.ts';
import { createNoticeLimits } from './resources/security-notices/notice-limits.ts';
import { createSessionService } from './resources/sessions/service.ts';
import { createSignInLimits } from './resources/sessions/sign-in-limits.ts';
import { createSeveralService } from './resources/several/service.ts';
import { createSiteService } from './resources/sites/service.ts';
import { createSshKeyService } from './resources/ssh-keys/service.ts';
import { createProfileService } from './resources/user/profile.ts';

export type Services = ReturnType<typeof createServices>;

/** What services share with the rest of a process that serves; a command has none of it. */
export interface ServingParts {
  authenticator?: Authenticator;
  limiter?: RateLimiter;
  ownHost?: OwnHost;
  lookUpTexts?: LookUpTexts;
}

const NO_HOST: OwnHost = { listening: () => null, sshHostKeys: async () => [] };

/** Every service, made from the platform's parts. */
export function createServices(
  platform: Platform,
  {
    authenticator,
    limiter = createRateLimiter(platform.database, platform.clock, platform.log),
    ownHost = NO_HOST,
    lookUpTexts = createTextLookUp(platform.config),
  }: ServingParts = {},
) {
  const limits = createSignInLimits(limiter, { perMinute: platform.config.authFailureLimit > 0 });
  const credentials = createCredentialService(platform, authenticator?.forget);
  const backups = createBackupService(platform, createNotificationLimits(limiter));
  const caches = createCacheService(platform);
  const domains = createDomainService(platform);
  return {
    accounts: createAccountService(platform),
    accountUsers: createAccountUserService(platform, createInvitationLimits(limiter)),
    sites: createSiteService(platform),
    installs: createInstallService(platform),
    domains,
    domainOwnership: createDomainOwnershipService(platform, domains, lookUpTexts),
    domainReports: createDomainReportService(platform),
    certificates: createCertificateService(platform),
    backups,
    caches,
    several: createSeveralService({
      backups,
      caches,
      spend: (userId) => limiter.spend(personKey(userId), platform.config.rateLimit),
      log: platform.log,
    }),
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
