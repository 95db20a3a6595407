import type { Caller, Origin } from '../access/caller.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { Randomness } from '../lib/ids.ts';
import {
  insertActivity,
  joinedAccounts,
  nameOfCredential,
  nameOfInstall,
  nameOfPerson,
} from './activity-log-store.ts';

/** Every action in the activity log. Renaming one orphans its stored entries. */
export const ACTIONS = [
  'account.create',
  'account.update',
  'account.limit',
  'account_user.invite',
  'account_user.add',
  'account_user.accept',
  'account_user.update',
  'account_user.remove',
  'site.create',
  'site.update',
  'site.delete',
  'tag.rename',
  'tag.remove',
  'site_transfer.request',
  'site_transfer.accept',
  'site_transfer.cancel',
  'site_transfer.complete',
  'site_transfer.fail',
  'install.create',
  'install.update',
  'install.delete',
  'install.restore',
  'install.switch_core',
  'install.update_php',
  'install.update_wordpress',
  'install.change_wordpress',
  'install.update_policy',
  'install.move',
  'install.rebuild',
  'install.copy',
  'install.import',
  'install.create_import_key',
  'install.renew_import_key',
  'install.delete_import_key',
  'install.login_link',
  'install.database_link',
  'install.update_mail',
  'install.wp_cli',
  'install.update_php_limits',
  'install.restart_php',
  'domain.create',
  'domain.update',
  'domain.delete',
  'domain.verify',
  'domain.lose',
  'certificate.order',
  'certificate.upload',
  'certificate.read_key',
  'backup.create',
  'backup.restore',
  'backup.delete',
  'backup.pack',
  'backup.download_file',
  'cache.purge',
  'cache.rules',
  'operation.cancel',
  'operation.retry',
  'offload.update',
  'offload.remove',
  'protection.update',
  'redirect.create',
  'redirect.update',
  'redirect.delete',
  'redirect.import',
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
  'passkey.create',
  'passkey.update',
  'passkey.delete',
  'passkey.refuse',
  'profile.update',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'webhook.disable',
  'webhook.test',
  'webhook.redeliver',
] as const;
export type Action = (typeof ACTIONS)[number];

/** The kinds of actions, for filters: the part of the action before the full stop. */
export const ACTION_KINDS = [...new Set(ACTIONS.map(kindOf))];

export function kindOf(action: Action): string {
  return action.slice(0, action.indexOf('.'));
}

/** An action and its subject. */
export interface Change {
  action: Action;
  subject: { id: string | null; name: string };
  /** The install that the subject is, or belongs to. */
  installId?: string | null;
  /** The change, as every user of the account may see it. Never a secret. */
  details?: Record<string, string | number | boolean | null>;
  /** For `password.set`: the user had no password before, so no security notice is sent. */
  isFirst?: boolean;
}

/** The user who made a change; without a signed-in user, only the origin. */
export type Actor = Caller | { userId: null; origin: Origin };

export interface ActivityLog {
  /** Records a change to an account, in the transaction that makes it. */
  record(transaction: Transaction, actor: Actor, accountId: string, change: Change): Promise<void>;
  /**
   * Records a change to a user (keys, credentials, password) in each account that they have joined, because it concerns
   * the owners there. Accounts whose invitation is open get no entry. `accountId` limits it to that account.
   */
  recordForUser(
    transaction: Transaction,
    actor: Actor,
    person: { userId: string; accountId?: string | null },
    change: Change,
  ): Promise<void>;
}

/** The name in the log if no user made the change. */
const NAMES_OF_MEANS: Record<Origin['means'], string> = {
  command_line: 'the operator',
  platform: 'Homeport',
  api: 'someone not signed in',
  portal: 'someone not signed in',
};

/**
 * Entries keep the names of the user and the credential as they were at the time. The command line is always logged as
 * the operator, even when it acts for a user.
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
      install_name: installNameOf(queries, installId, subject),
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

/** The name of an entry's install: of the subject itself, whose row may be deleted already, or of its install. */
function installNameOf(queries: Queries, installId: string | null, subject: Change['subject']) {
  if (installId === null) return null;
  return subject.id === installId ? subject.name : nameOfInstall(queries, installId);
}

/** Replaces lone surrogates by U+FFFD: PostgreSQL does so in text, and refuses them in JSON. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
