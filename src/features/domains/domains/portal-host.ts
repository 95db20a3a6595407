import type { Config } from '../../../config/config.ts';

/** The host name at which people open the portal, as domains are stored. */
export function portalHostOf({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return new URL(publicUrl).hostname.replace(/\.$/, '');
}
