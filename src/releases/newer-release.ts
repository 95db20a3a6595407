import { isLater } from '../lib/releases/version-order.ts';
import type { KnownRelease } from './release-check-store.ts';

/** A release that is newer than this program. */
export interface NewerRelease extends KnownRelease {
  /** Whether it, or a release between, fixes a vulnerability. */
  security: boolean;
}

/** The newest of the releases after a version; null without one. */
export function newerRelease(releases: readonly KnownRelease[], version: string): NewerRelease | null {
  const after = releases.filter((release) => isLater(release.version, version));
  const newest = after.reduce<KnownRelease | null>(
    (best, one) => (best === null || isLater(one.version, best.version) ? one : best),
    null,
  );
  return newest && { ...newest, security: after.some(({ security }) => security) };
}
