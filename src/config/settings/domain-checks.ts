import { addressRanges, dnsServers } from '../setting-values.ts';
import { list, optional } from './setting.ts';

/** How a domain is looked at from the outside. */
export const DOMAIN_CHECK_SETTINGS = {
  resolvers: optional(
    'HOMEPORT_RESOLVERS',
    "the system's",
    'DNS servers for domain checks, `host:port`, comma-separated',
    dnsServers,
  ),
  allowPrivateTargets: list(
    'HOMEPORT_ALLOW_PRIVATE_TARGETS',
    'address ranges, comma-separated, that domain checks may reach although they are private',
    addressRanges,
  ),
};
