import { optional, setting } from './setting.ts';
import { anyText, baseUrl, hiding } from './setting-values.ts';

/** The content delivery network in front of the edge. */
export const CDN_SETTINGS = {
  cdnZone: optional(
    'HOMEPORT_CDN_ZONE',
    'none: no CDN to purge',
    'Cloudflare zone in which the host names of an install are purged',
    anyText,
  ),
  cdnToken: optional(
    'HOMEPORT_CDN_TOKEN',
    'none',
    'API token for the zone, with permission to purge',
    hiding('all', anyText),
  ),
  cdnApi: setting(
    'HOMEPORT_CDN_API',
    'https://api.cloudflare.com/client/v4',
    'URL of the CDN’s API',
    baseUrl,
  ),
};
