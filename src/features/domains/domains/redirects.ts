import type { Queries } from '../../../database/database.ts';
import { NotFound } from '../../../lib/failures.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { requireFitForRedirect } from './rules.ts';
import { type DomainRow, findDomain, isRedirectTarget, setRedirect } from './store.ts';

/** Client values for "no redirect" (docs/api.md, Domains). */
const NO_REDIRECT = ['nil', ''];

export function isRedirect(redirect_to: string | null | undefined): redirect_to is string {
  return typeof redirect_to === 'string' && !NO_REDIRECT.includes(redirect_to.trim());
}

/** The redirect target with this id; undefined if the install has no such domain. */
export async function findTarget(
  queries: Queries,
  installId: string,
  text: string,
): Promise<DomainRow | undefined> {
  const id = parseUuid(text);
  return id === undefined ? undefined : findDomain(queries, installId, id);
}

/** Redirects a domain to another one of its install. Throws NotFound, InvalidRequest. */
export async function redirect(
  queries: Queries,
  installId: string,
  domainId: string,
  target: DomainRow | undefined,
): Promise<void> {
  const domain = await findDomain(queries, installId, domainId);
  if (!domain) throw new NotFound();
  requireFitForRedirect(domain, target, await isRedirectTarget(queries, domainId));
  await setRedirect(queries, domainId, target.id);
}
