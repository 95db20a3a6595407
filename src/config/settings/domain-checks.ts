import { list, optional, setting } from './setting.ts';
import { addressRanges, dnsServers, oneOf, trueOrFalse } from './setting-values.ts';

/** Checks of domains from the outside. */
export const DOMAIN_CHECK_SETTINGS = {
  resolvers: optional(
    'HOMEPORT_RESOLVERS',
    "the system's",
    'DNS servers for domain checks, `host:port`, comma-separated',
    dnsServers,
  ),
  allowPrivateTargets: list(
    'HOMEPORT_ALLOW_PRIVATE_TARGETS',
    'private address ranges, comma-separated, that domain checks and webhooks may connect to',
    addressRanges,
  ),
  watchDomains: setting(
    'HOMEPORT_WATCH_DOMAINS',
    'true',
    '`true`: Homeport checks daily whether each served domain still points here; `false`: only on request',
    trueOrFalse,
  ),
  watchWebsites: setting(
    'HOMEPORT_WATCH_WEBSITES',
    'true',
    '`true`: Homeport asks the home page of each production website every minute, at its own host; `false`: never',
    trueOrFalse,
  ),
  domainOwnership: setting(
    'HOMEPORT_DOMAIN_OWNERSHIP',
    'first',
    '`first`: the account that adds a domain first serves it, until another account proves that it owns the domain; `required`: new domains are served once a TXT record proves them',
    oneOf(['first', 'required']),
  ),
};
