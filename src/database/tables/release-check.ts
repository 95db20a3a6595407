import type { Json } from './json.ts';

/** The last look for releases of Homeport itself. */
export interface ReleaseCheckRow {
  one: 1;
  checked_at: string;
  /** Why the list could not be read, one line; null if it could. */
  reason: string | null;
  /** The releases that were read last, newest first. */
  releases: Json;
}
