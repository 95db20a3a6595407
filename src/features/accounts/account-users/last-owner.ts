import type { Owner } from './store.ts';

/**
 * Whether an account would be without an owner if this one went. Whoever is merely invited does not take the place of
 * somebody who is there: the address may be mistyped, the invitation declined.
 */
export function isLastOwner(owner: Owner, owners: readonly Owner[]): boolean {
  return !owners.some(
    (other) => other.user_id !== owner.user_id && (other.invite_accepted || !owner.invite_accepted),
  );
}
