import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { installSchema } from './schema.ts';
import type { FoundMembership, InstallView } from './store.ts';

const addresses = Type.Union([Type.Array(Type.String()), Type.Null()]);

/** Values that an answer shows beside the install's own columns. */
type Accompanying = Partial<FoundMembership & { operationId: string | null }>;

/** What the schema does not have is left out when the answer is written: leaving it out here takes eight times as long. */
export function presentInstall(
  install: InstallView & Accompanying,
  siteDomain: string,
): Static<typeof installSchema> {
  const { name, account_id, site_id, primary_domain, stable_ips } = install;
  const cname = defaultDomain(name, siteDomain);
  return {
    ...install,
    account: { id: account_id },
    cname,
    site: site_id === null ? null : { id: site_id },
    primary_domain: primary_domain ?? cname,
    stable_ips: stable_ips === null ? null : Value.Parse(addresses, stable_ips),
    is_multisite: false,
  };
}
