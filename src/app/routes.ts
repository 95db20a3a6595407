import type { Route } from '../api/route.ts';
import { serviceStatusRoutes } from '../api/service-status.ts';
import { accountUserPortalRoutes, accountUserRoutes } from '../features/accounts/account-users/routes.ts';
import { accountPortalRoutes, accountRoutes } from '../features/accounts/accounts/routes.ts';
import { activityPortalRoutes, activityRoutes } from '../features/accounts/activity/routes.ts';
import { eventRoutes } from '../features/accounts/events/routes.ts';
import { liveEventRoutes } from '../features/accounts/live-events/routes.ts';
import { notificationRoutes } from '../features/accounts/notifications/routes.ts';
import { webhookRoutes } from '../features/accounts/webhooks/routes.ts';
import { archivePortalRoutes } from '../features/backups/archives/portal-routes.ts';
import { archiveRoutes } from '../features/backups/archives/routes.ts';
import { browsingRoutes } from '../features/backups/browsing/routes.ts';
import { importRoutes } from '../features/backups/imports/routes.ts';
import { backupPortalRoutes } from '../features/backups/portal-routes.ts';
import { backupRoutes } from '../features/backups/routes.ts';
import { stagingRoutes } from '../features/backups/staging/routes.ts';
import { certificatePortalRoutes } from '../features/domains/certificates/portal-routes.ts';
import { certificateRoutes } from '../features/domains/certificates/routes.ts';
import { domainPortalRoutes } from '../features/domains/domains/portal-routes.ts';
import { domainRoutes } from '../features/domains/domains/routes.ts';
import { domainReportPortalRoutes, domainReportRoutes } from '../features/domains/status-reports/routes.ts';
import { apiCertificateRoutes, credentialRoutes } from '../features/identity/credentials/routes.ts';
import { emailChangeRoutes } from '../features/identity/email-changes/routes.ts';
import { invitationRoutes } from '../features/identity/invitations/routes.ts';
import { passkeyRoutes } from '../features/identity/passkeys/routes.ts';
import { passwordRoutes } from '../features/identity/passwords/routes.ts';
import { profileRoutes, userRoutes } from '../features/identity/profile/routes.ts';
import { secondFactorRoutes } from '../features/identity/second-factor/routes.ts';
import { sessionRoutes } from '../features/identity/sign-in/routes.ts';
import { sshKeyPortalRoutes, sshKeyRoutes } from '../features/identity/ssh-keys/routes.ts';
import { deletedInstallRoutes } from '../features/provisioning/deleted-installs/routes.ts';
import { moveRoutes } from '../features/provisioning/moves/routes.ts';
import { operationPortalRoutes } from '../features/provisioning/operations/portal-routes.ts';
import { operationRoutes } from '../features/provisioning/operations/routes.ts';
import { transferRoutes } from '../features/transfers/routes.ts';
import { changeRoutes } from '../features/updates/changes/routes.ts';
import { updateRoutes } from '../features/updates/routes.ts';
import { uptimeRoutes } from '../features/uptime/routes.ts';
import { usagePortalRoutes } from '../features/usage/portal-routes.ts';
import { usageRoutes } from '../features/usage/routes.ts';
import { bulkRoutes } from '../features/websites/bulk/portal-routes.ts';
import { cacheRoutes } from '../features/websites/caches/routes.ts';
import { capabilityRoutes } from '../features/websites/capabilities/routes.ts';
import { databaseLinkRoutes } from '../features/websites/database-links/routes.ts';
import { installPortalRoutes } from '../features/websites/installs/portal-routes.ts';
import { installRoutes } from '../features/websites/installs/routes.ts';
import { loginLinkRoutes } from '../features/websites/login-links/routes.ts';
import { logRoutes } from '../features/websites/logs/routes.ts';
import { mailRoutes } from '../features/websites/mail/routes.ts';
import { offloadPortalRoutes } from '../features/websites/offload/portal-routes.ts';
import { offloadRoutes } from '../features/websites/offload/routes.ts';
import { overviewRoutes } from '../features/websites/overview/routes.ts';
import { phpRoutes } from '../features/websites/php/routes.ts';
import { cacheRulesRoutes } from '../features/websites/rules/caching/routes.ts';
import { protectionRoutes } from '../features/websites/rules/protection/routes.ts';
import { redirectRoutes } from '../features/websites/rules/redirects/routes.ts';
import { siteRoutes } from '../features/websites/sites/routes.ts';
import { tagRoutes } from '../features/websites/tags/routes.ts';
import { wordpressRoutes } from '../features/websites/wordpress/routes.ts';
import { wpCliRoutes } from '../features/websites/wp-cli/routes.ts';
import type { Platform } from '../platform/platform.ts';
import type { Services } from './services.ts';

/** Every endpoint of the public API except `/swagger`, which describes them. */
export function apiRoutes(
  { config, database, clock }: Pick<Platform, 'config' | 'database' | 'clock'>,
  services: Services,
): Route[] {
  const { siteDomain } = config;
  return [
    ...serviceStatusRoutes(database, clock),
    ...accountRoutes(services.accounts),
    ...accountUserRoutes(services.accountUsers),
    ...siteRoutes(services.sites, siteDomain),
    ...tagRoutes(services.tags),
    ...transferRoutes(services.transfers),
    ...installRoutes(services.installs, siteDomain),
    ...offloadRoutes(services.offload),
    ...domainRoutes(
      { domains: services.domains, ownership: services.domainOwnership },
      { siteDomain, clock },
    ),
    ...domainReportRoutes(services.domainReports),
    ...certificateRoutes(
      { certificates: services.certificates, uploads: services.certificateUploads },
      config.acmeContact,
    ),
    ...backupRoutes(services.backups),
    ...browsingRoutes(services.backupBrowsing),
    ...stagingRoutes(services.staging, siteDomain),
    ...importRoutes(services.imports, services.importKeys),
    ...archiveRoutes(services.archives),
    ...cacheRoutes(services.caches),
    ...capabilityRoutes(services.capabilities),
    ...loginLinkRoutes(services.loginLinks),
    ...databaseLinkRoutes(services.databaseLinks),
    ...mailRoutes(services.mail),
    ...wordpressRoutes(services.wordpress),
    ...protectionRoutes(services.protection),
    ...redirectRoutes(services.redirects),
    ...cacheRulesRoutes(services.cacheRules),
    ...updateRoutes(services.updates, services.updatePolicies),
    ...changeRoutes(services.itemChanges),
    ...logRoutes(services.logs),
    ...deletedInstallRoutes(services.deletedInstalls),
    ...wpCliRoutes(services.wpCli),
    ...phpRoutes(services.php),
    ...moveRoutes(services.moves),
    ...operationRoutes(services.operations),
    ...usageRoutes(services.usage),
    ...uptimeRoutes(services.uptime, clock),
    ...userRoutes(services.profile),
    ...sshKeyRoutes(services.sshKeys),
    ...credentialRoutes(services.credentials),
    ...activityRoutes(services.activity),
    ...eventRoutes(services.events),
    ...webhookRoutes(services.webhooks),
    ...notificationRoutes(services.notifications),
  ];
}

/** The portal's endpoints beyond those of the public API. */
export function portalRoutes(services: Services): Route[] {
  return [
    ...sessionRoutes(services.sessions),
    ...passwordRoutes(services.passwords),
    ...secondFactorRoutes(services.secondFactor),
    ...passkeyRoutes(services.passkeys),
    ...profileRoutes(services.profile),
    ...emailChangeRoutes(services.emailChanges),
    ...credentialRoutes(services.credentials),
    ...apiCertificateRoutes(services.ownCertificate),
    ...sshKeyPortalRoutes(services.sshKeys),
    ...invitationRoutes(services.invitations),
    ...accountPortalRoutes(services.accounts),
    ...accountUserPortalRoutes(services.accountUsers),
    ...activityRoutes(services.activity),
    ...activityPortalRoutes(services.activity),
    ...overviewRoutes(services.overview, services.search),
    ...usagePortalRoutes(services.usage),
    ...liveEventRoutes(services.liveEvents),
    ...bulkRoutes(services.bulk),
    ...operationPortalRoutes(services.installOperations, services.operations),
    ...installPortalRoutes(services.connections, services.installs),
    ...domainPortalRoutes(services.domains),
    ...certificatePortalRoutes(services.certificates),
    ...domainReportPortalRoutes(services.domainReports),
    ...backupPortalRoutes(services.backups),
    ...archivePortalRoutes(services.archives),
    ...offloadPortalRoutes(services.offload),
  ];
}
