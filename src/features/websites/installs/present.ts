import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { installSchema } from './schema.ts';
import type { FoundMembership, InstallView } from './store.ts';

const addresses = Type.Union([Type.Array(Type.String()), Type.Null()]);

/** Values that an answer shows beside the install's own columns. */
type Accompanying = Partial<FoundMembership & { operationId: string | null }>;

export function presentInstall(
  {
    account_id,
    site_id,
    primary_domain,
    stable_ips,
    role: _role,
    invite_accepted: _accepted,
    granted: _granted,
    operationId: _operation,
    ...fields
  }: InstallView & Accompanying,
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
