import { list, optional, setting } from './setting.ts';
import { addressRanges, dnsServers, oneOf, trueOrFalse } from './setting-values.ts';

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
  watchDomains: setting(
    'HOMEPORT_WATCH_DOMAINS',
    'true',
    'once a day Homeport looks by itself whether each domain that it serves still leads here; `false`: only when somebody asks',
    trueOrFalse,
  ),
  domainOwnership: setting(
    'HOMEPORT_DOMAIN_OWNERSHIP',
    'first',
    '`first`: the account that adds a domain first serves it, until another account proves that it owns the domain; `required`: new domains are served once a TXT record proves them',
    oneOf(['first', 'required']),
  ),
};
