import { invalidValue, notPermitted } from '../../../lib/failures.ts';
import { isWildcard } from './domain-name.ts';
import type { DomainRow } from './store.ts';

/**
 * The rules for primary domains, redirects and deletion (docs/api.md, Domains). Each throws InvalidRequest with a sentence
 * that says what to do.
 */
const refuse = (field: string, code: string, message: string) => invalidValue('Domain', field, code, message);

export function requireFitForPrimary(domain: DomainRow): void {
  if (domain.needs_proof && !domain.is_taken) {
    throw refuse(
      'primary',
      'not_verified',
      `${domain.name} is not verified yet; add its TXT record and verify it before you make it the primary domain`,
    );
  }
  if (domain.is_duplicate) {
    throw refuse(
      'primary',
      'duplicate',
      `${domain.name} is served by another install and cannot be the primary domain`,
    );
  }
  if (isWildcard(domain.name)) {
    throw refuse('primary', 'wildcard', `${domain.name} is a wildcard and cannot be the primary domain`);
  }
  if (domain.redirect_to_id !== null) {
    throw refuse(
      'primary',
      'redirected',
      `${domain.name} is redirected; remove its redirect to make it the primary domain`,
    );
  }
}

/** An install always has one primary domain. To replace it, make another domain primary. */
export function requirePrimaryElsewhere(domain: DomainRow): void {
  if (domain.is_primary) {
    throw refuse(
      'primary',
      'primary_required',
      `${domain.name} is the primary domain; make another domain primary instead`,
    );
  }
}

/** Requires a valid redirect target, whatever the redirected domain. */
export function requireFitAsTarget(target: DomainRow | undefined): asserts target is DomainRow {
  if (!target)
    throw notPermitted('Domain', 'redirect_to', 'redirect_to must be a domain of the same install');
  if (target.redirect_to_id !== null) {
    throw refuse(
      'redirect_to',
      'redirect_to_redirect',
      `${target.name} is itself redirected; choose its target instead`,
    );
  }
  if (isWildcard(target.name)) {
    throw refuse('redirect_to', 'wildcard', `${target.name} is a wildcard and cannot be redirected to`);
  }
}

export function requireFitForRedirect(
  domain: DomainRow,
  target: DomainRow | undefined,
  isTarget: boolean,
): asserts target is DomainRow {
  if (target?.id === domain.id)
    throw refuse('redirect_to', 'self', `${domain.name} cannot be redirected to itself`);
  requireFitAsTarget(target);
  if (domain.is_primary) {
    throw refuse('redirect_to', 'primary', `${domain.name} is the primary domain and cannot be redirected`);
  }
  if (isTarget) {
    throw refuse(
      'redirect_to',
      'redirect_to_redirect',
      `Other domains are redirected to ${domain.name}; change them first`,
    );
  }
}

export function requireFitForDeletion(domain: DomainRow, isTarget: boolean): void {
  if (domain.is_cname)
    throw refuse('id', 'cname', `${domain.name} is the install's default domain and cannot be deleted`);
  if (domain.is_primary) {
    throw refuse('id', 'primary', `${domain.name} is the primary domain; make another domain primary first`);
  }
  if (isTarget) {
    throw refuse(
      'id',
      'redirect_target',
      `Other domains are redirected to ${domain.name}; change them first`,
    );
  }
}
