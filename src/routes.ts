import type { Route } from './api/route.ts';
import type { Platform } from './platform.ts';
import { accountUserPortalRoutes } from './resources/account-users/portal-routes.ts';
import { accountUserRoutes } from './resources/account-users/routes.ts';
import { accountPortalRoutes } from './resources/accounts/portal-routes.ts';
import { accountRoutes } from './resources/accounts/routes.ts';
import { activityRoutes } from './resources/activity/routes.ts';
import { backupPortalRoutes } from './resources/backups/portal-routes.ts';
import { backupRoutes } from './resources/backups/routes.ts';
import { cacheRoutes } from './resources/caches/routes.ts';
import { certificateRoutes } from './resources/certificates/routes.ts';
import { credentialRoutes } from './resources/credentials/routes.ts';
import { domainReportPortalRoutes } from './resources/domain-reports/portal-routes.ts';
import { domainReportRoutes } from './resources/domain-reports/routes.ts';
import { domainPortalRoutes } from './resources/domains/portal-routes.ts';
import { domainRoutes } from './resources/domains/routes.ts';
import { emailChangeRoutes } from './resources/email-changes/routes.ts';
import { installPortalRoutes } from './resources/installs/portal-routes.ts';
import { installRoutes } from './resources/installs/routes.ts';
import { invitationRoutes } from './resources/invitations/routes.ts';
import { liveEventRoutes } from './resources/live-events/routes.ts';
import { offloadPortalRoutes } from './resources/offload/portal-routes.ts';
import { offloadRoutes } from './resources/offload/routes.ts';
import { overviewRoutes } from './resources/overview/routes.ts';
import { passwordRoutes } from './resources/passwords/routes.ts';
import { secondFactorRoutes } from './resources/second-factor/routes.ts';
import { serviceStatusRoutes } from './resources/service-status/routes.ts';
import { sessionRoutes } from './resources/sessions/routes.ts';
import { severalRoutes } from './resources/several/portal-routes.ts';
import { siteRoutes } from './resources/sites/routes.ts';
import { sshKeyPortalRoutes } from './resources/ssh-keys/portal-routes.ts';
import { sshKeyRoutes } from './resources/ssh-keys/routes.ts';
import { profileRoutes } from './resources/user/portal-routes.ts';
import { userRoutes } from './resources/user/routes.ts';
import type { Services } from './services.ts';

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
    ...domainRoutes(
      { domains: services.domains, ownership: services.domainOwnership },
      { siteDomain, clock },
    ),
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
