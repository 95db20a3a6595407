import type { Queries } from '../../../database/database.ts';
import { nameCandidates } from './website-store.ts';

/** The host name at which a website opens. */
export interface WebsiteName {
  name: string;
  /** Whether browsers accept its certificate without a warning. */
  isTrusted: boolean;
}

/**
 * The primary domain if a status report or the certificate authority saw it reach this platform; else the default
 * domain, which always does. Undefined without domains.
 */
export async function findWebsiteName(queries: Queries, installId: string): Promise<WebsiteName | undefined> {
  const domains = await nameCandidates(queries, installId);
  const seen = domains.find((domain) => domain.is_primary && domain.reached === true && !domain.is_duplicate);
  const found = seen ?? domains.find((domain) => domain.is_cname);
  return found && { name: found.name, isTrusted: found.source !== null && found.source !== 'SELF_SIGNED' };
}
