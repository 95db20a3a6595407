import type { Caller, Origin } from '../access/caller.ts';
import type { Transaction } from '../database/database.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { Randomness } from '../lib/ids.ts';
import { insertActivity, joinedAccounts, nameOfCredential, nameOfPerson } from './activity-log-store.ts';

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
  'install.copy',
  'domain.create',
  'domain.update',
  'domain.delete',
  'domain.verify',
  'domain.lose',
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
  'password.link',
  'password.set',
  'password.change',
  'second_factor.enable',
  'second_factor.disable',
  'second_factor.renew_codes',
  'second_factor.refuse',
  'profile.update',
] as const;
export type Action = (typeof ACTIONS)[number];

/** What actions are about, as far as people tell them apart: what stands before the full stop. */
export const ACTION_KINDS = [...new Set(ACTIONS.map(kindOf))];

export function kindOf(action: Action): string {
  return action.slice(0, action.indexOf('.'));
}

/** What was done to what. */
export interface Change {
  action: Action;
  subject: { id: string | null; name: string };
  /** The install that the subject belongs to or is. */
  installId?: string | null;
  /** What changed, in words or values that may be shown to whoever sees the account. Never a secret. */
  details?: Record<string, string | number | boolean | null>;
  /** Of a password: the person had none before, so they are not told of it by mail. */
  isFirst?: boolean;
}

/** Who did it: a caller, or, where nobody is signed in, where it came from alone. */
export type Actor = Caller | { userId: null; origin: Origin };

export interface ActivityLog {
  /** Writes a change of an account down, in the transaction that makes it. */
  record(transaction: Transaction, actor: Actor, accountId: string, change: Change): Promise<void>;
  /**
   * Writes a change of a person's own down (keys, credentials, password) in each account that they have joined: it concerns
   * whoever answers for those. Nobody learns of it by an invitation alone. `accountId`: in no other account than that one.
   */
  recordForUser(
    transaction: Transaction,
    actor: Actor,
    person: { userId: string; accountId?: string | null },
    change: Change,
  ): Promise<void>;
}

/** Whom a change is put down to where no person made it. */
const NAMES_OF_MEANS: Record<Origin['means'], string> = {
  command_line: 'the operator',
  platform: 'Homeport',
  api: 'somebody who had not signed in',
  portal: 'somebody who had not signed in',
};

/**
 * The names of the person and the credential are written down as they are at that moment, by the statement itself. Who works at
 * the command line is the operator, whomever they do it for.
 */
export function createActivityLog({ clock, random }: { clock: Clock; random: Randomness }): ActivityLog {
  async function write(
    { queries }: Transaction,
    { userId, origin }: Actor,
    accountIds: readonly (string | null)[],
    { action, subject, installId = null, details }: Change,
  ): Promise<void> {
    const person = origin.means === 'command_line' ? null : userId;
    const who = {
      user_id: person,
      user_name: person === null ? NAMES_OF_MEANS[origin.means] : nameOfPerson(queries, person),
      means: origin.means,
      credential_id: origin.credentialId,
      credential_name: origin.credentialId === null ? null : nameOfCredential(queries, origin.credentialId),
      address: origin.address,
      request_id: origin.requestId,
    };
    const what = {
      at: timestamp(clock),
      action,
      subject_id: subject.id,
      subject_name: subject.name,
      install_id: installId,
      details: details === undefined ? null : JSON.stringify(details, wellFormed),
    };
    await insertActivity(
      queries,
      accountIds.map((account_id) => ({ id: random.uuid(), account_id, ...what, ...who })),
    );
  }

  return {
    record: (transaction, actor, accountId, change) => write(transaction, actor, [accountId], change),
    async recordForUser(transaction, actor, { userId, accountId = null }, change) {
      const joined = await joinedAccounts(transaction.queries, userId);
      const accountIds = accountId === null ? joined : joined.filter((id) => id === accountId);
      await write(transaction, actor, accountIds.length === 0 ? [null] : accountIds, change);
    },
  };
}

/** PostgreSQL takes half a surrogate pair in text for U+FFFD, and in JSON not at all. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
