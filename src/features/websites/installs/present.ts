import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { installSchema } from './schema.ts';
import type { InstallView } from './store.ts';

const addresses = Type.Union([Type.Array(Type.String()), Type.Null()]);

export function presentInstall(
  { account_id, site_id, primary_domain, stable_ips, ...fields }: InstallView,
  siteDomain: string,
): Static<typeof installSchema> {
  const cname = defaultDomain(fields.name, siteDomain);
  return {
    ...fields,
    account: { id: account_id },
    cname,
    site: site_id === null ? null : { id: site_id },
    primary_domain: primary_domain ?? cname,
    stable_ips: stable_ips === null ? null : Value.Parse(addresses, stable_ips),
    is_multisite: false,
  };
}
