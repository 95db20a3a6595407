import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { InstallState, OffloadRules } from '../../hosting/contract/install-state.ts';
import { defaultDomain } from '../../lib/default-domain.ts';
import type { Platform } from '../../platform/platform.ts';
import { certificateServes } from '../domains/certificates/ssl-status.ts';
import { certificatesOfInstall } from '../domains/certificates/store.ts';
import { covers } from '../domains/domains/domain-name.ts';
import { portalHostOf } from '../domains/domains/portal-host.ts';
import { ownDomainsOf } from '../domains/domains/store.ts';
import { findWebsite } from '../websites/installs/website-store.ts';
import { mailStateOf } from '../websites/mail/limits.ts';
import { filestoreSettingsSchema } from '../websites/offload/schema.ts';
import { findOffload } from '../websites/offload/store.ts';
import { findPhpLimits } from '../websites/php/limits-store.ts';
import { loadWebsiteRules } from '../websites/rules/website-rules.ts';

type Parts = Pick<Platform, 'config' | 'database' | 'sealer' | 'clock'>;

/** The desired state of an install's website, as the database has it now; undefined if the install is gone. */
export const loadDesiredState = (parts: Parts, installId: string): Promise<InstallState | undefined> =>
  parts.database.snapshot((reader) => readDesiredState(reader, parts, installId));

async function readDesiredState(
  reader: Queries,
  { config, sealer, clock }: Parts,
  installId: string,
): Promise<InstallState | undefined> {
  const install = await findWebsite(reader, { id: installId });
  if (!install) return undefined;
  const portalHost = portalHostOf(config);
  const own = await ownDomainsOf(reader, installId);
  // The domain was added before the portal got its host name, which no website may serve.
  const domains = own.filter(({ name }) => !covers(name, portalHost));
  const certificates = await certificatesOfInstall(reader, installId);
  const serves = (certificate: Parameters<typeof certificateServes>[0]['certificate']) =>
    certificateServes({ authority: config.acmeDirectory !== null, certificate, now: clock.now() });
  const byDomain = new Map(certificates.map((certificate) => [certificate.domain_id, certificate]));
  const php = await findPhpLimits(reader, installId);
  const { id, name, php_version, wordpress_version, runtime, status } = install;
  return {
    id,
    name,
    phpVersion: php_version,
    wordpressVersion: wordpress_version,
    primaryHostname:
      domains.find((domain) => domain.is_primary)?.name ?? defaultDomain(name, config.siteDomain),
    hostnames: domains.map((domain) => {
      const certificate = byDomain.get(domain.id);
      return {
        name: domain.name,
        redirectTo: domain.redirect_to_name,
        forceHttps: domain.secure_all_urls && serves(certificate ?? null),
        certificate: certificate
          ? {
              chain: certificate.chain,
              key: sealer.open(certificate.sealed_key),
              notAfter: certificate.not_after,
            }
          : null,
      };
    }),
    offload: await loadOffloadRules(reader, installId),
    ...(await mailStateOf(reader, installId, config)),
    ...(await loadWebsiteRules(reader, sealer, install)),
    // Left out without limits, so that hosts of earlier versions accept the state.
    ...(php === null ? {} : { php }),
    ...(status === 'active' ? { isMade: true } : {}),
    // Left out for files, as before installs had a runtime.
    ...(runtime === 'wordpress' ? { runtime } : {}),
  };
}

async function loadOffloadRules(queries: Queries, installId: string): Promise<OffloadRules | null> {
  const row = await findOffload(queries, installId);
  if (!row || row.settings === null) return null;
  const settings = Value.Parse(filestoreSettingsSchema, row.settings);
  return {
    bucket: settings.bucket,
    region: settings.bucket_region,
    paths: settings.path_settings.map(({ path, excluded_paths, redirect_type }) => ({
      path,
      excludedPaths: excluded_paths,
      redirectType: redirect_type,
    })),
  };
}
