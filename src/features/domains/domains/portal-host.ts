import type { Config } from '../../../config/config.ts';

/** The portal's host name, in the form in which domains are stored. */
export function portalHostOf({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return new URL(publicUrl).hostname.replace(/\.$/, '');
}
