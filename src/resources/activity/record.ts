import type { Caller, Origin } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import type { Transaction } from '../../database/database.ts';
import type { Randomness } from '../../ids.ts';

/** Every change that is written down. Renaming one orphans what was written of it. */
export const ACTIONS = [
  'account.create',
  'account.update',
  'account_user.invite',
  'account_user.add',
  'account_user.accept',
  'account_user.update',
  'account_user.remove',
  'site.create',
  'site.update',
  'site.delete',
  'install.create',
  'install.update',
  'install.delete',
  'install.switch_core',
  'domain.create',
  'domain.update',
  'domain.delete',
  'backup.create',
  'backup.restore',
  'cache.purge',
  'offload.update',
  'ssh_key.create',
  'ssh_key.delete',
  'credential.create',
  'credential.revoke',
  'session.create',
  'session.end',
  'password.set',
  'password.change',
  'second_factor.enable',
  'second_factor.disable',
  'second_factor.renew_codes',
  'profile.update',
] as const;
export type Action = (typeof ACTIONS)[number];

/** What was done to what. */
export interface Change {
  action: Action;
  subject: { id: string | null; name: string };
  /** The install that the subject belongs to or is. */
  installId?: string | null;
  /** What changed, in words or values that may be shown to whoever sees the account. Never a secret. */
  details?: Record<string, string | number | boolean | null>;
}

/** Who did it: a caller, or, where nobody is signed in, where it came from alone. */
export type Doer = Caller | { userId: null; origin: Origin };

export interface ActivityLog {
  /** Writes a change of an account down, in the transaction that makes it. */
  record(transaction: Transaction, doer: Doer, accountId: string, change: Change): Promise<void>;
  /**
   * Writes a change of a person's own down (keys, credentials, password) in each account that they are in: it concerns
   * whoever answers for those. `accountId`: in that one alone.
   */
  recordOfPerson(
    transaction: Transaction,
    doer: Doer,
    person: { userId: string; accountId?: string | null },
    change: Change,
  ): Promise<void>;
}

export function createActivityLog(_parts: { clock: Clock; random: Randomness }): ActivityLog {
  return { record: async () => {}, recordOfPerson: async () => {} };
}
