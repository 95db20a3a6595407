import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { installSchema } from './schema.ts';
import type { InstallView } from './store.ts';

const addresses = Type.Union([Type.Array(Type.String()), Type.Null()]);

export function presentInstall(install: InstallView, siteDomain: string): Static<typeof installSchema> {
  const cname = defaultDomain(install.name, siteDomain);
  return {
    id: install.id,
    name: install.name,
    account: { id: install.account_id },
    php_version: install.php_version,
    wp_version: install.wordpress_version,
    defer_wordpress_upgrades_until: install.defer_wordpress_until,
    status: install.status,
    cname,
    environment: install.environment,
    site: install.site_id === null ? null : { id: install.site_id },
    primary_domain: install.primary_domain ?? cname,
    stable_ips: install.stable_ips === null ? null : Value.Parse(addresses, install.stable_ips),
    is_multisite: false,
    lost_data: install.lost_data,
    created_at: install.created_at,
  };
}
