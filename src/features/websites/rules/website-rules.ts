import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '../../../database/database.ts';
import type { Environment } from '../../../database/tables/installs.ts';
import { NO_RULES, type WebsiteRules } from '../../../hosting/contract/website-rules.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { hostCacheRules, hostRedirect, loadRules, type StoredProtection } from './stored-rules.ts';

interface RuledInstall {
  id: string;
  name: string;
  environment: Environment | null;
}

/** The rules of an install as its host gets them, as a member of the desired state; nothing for the usual rules. */
export async function loadWebsiteRules(
  queries: Queries,
  sealer: Sealer,
  install: RuledInstall,
): Promise<{ rules?: WebsiteRules }> {
  const { protection, password_hash: hash, redirects, cache_rules } = await loadRules(queries, install.id);
  const { enabled, username, allowed_addresses } = protection.password;
  const rules: WebsiteRules = {
    blockXmlrpc: protection.xmlrpc === 'blocked',
    noindex: isHidden(protection, install.environment),
    blockedAddresses: protection.blocked_addresses,
    password:
      enabled && hash !== null
        ? {
            user: username ?? install.name,
            hash,
            exemptAddresses: allowed_addresses,
            // Another one with each password, so that a new password ends earlier passes.
            passKey: sealer.derive(`visitor pass ${install.id} ${hash}`),
          }
        : null,
    redirects: redirects.map(hostRedirect),
    cache: cache_rules && hostCacheRules(cache_rules),
  };
  return isDeepStrictEqual(rules, NO_RULES) ? {} : { rules };
}

/** Environments whose websites are not for the public. */
export function isPrivateEnvironment(environment: Environment | null): boolean {
  return environment === 'staging' || environment === 'development';
}

/** Whether every name of an install keeps search engines away. */
function isHidden({ noindex }: StoredProtection, environment: Environment | null): boolean {
  return noindex === 'automatic' ? isPrivateEnvironment(environment) : noindex === 'on';
}
