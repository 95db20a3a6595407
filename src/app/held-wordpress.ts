import type { Config } from '../config/config.ts';
import { createHeldWordPress, type HeldWordPress } from '../features/hosts/held-wordpress.ts';
import { embeddedVersions } from './embedded-websites.ts';

/** Finds the versions of WordPress of each host, with or without a running server. */
export function heldWordPress(config: Pick<Config, 'dataDir' | 'host'>): HeldWordPress {
  return createHeldWordPress(async () => (config.host === 'embedded' ? embeddedVersions(config) : []));
}
