import type { Queries } from '../../../database/database.ts';
import { nameCandidates } from './website-store.ts';

/** The name by which a website is opened. */
export interface WebsiteName {
  name: string;
  /** Browsers do not warn of its certificate. */
  isTrusted: boolean;
}

/**
 * The primary domain, once a status report or the authority has seen that it leads here; until then the install's own name, which
 * always does. Undefined where the install has no domains.
 */
export async function findWebsiteName(queries: Queries, installId: string): Promise<WebsiteName | undefined> {
  const domains = await nameCandidates(queries, installId);
  const seen = domains.find((domain) => domain.is_primary && domain.reached === true && !domain.is_duplicate);
  const found = seen ?? domains.find((domain) => domain.is_cname);
  return found && { name: found.name, isTrusted: found.source !== null && found.source !== 'SELF_SIGNED' };
}
