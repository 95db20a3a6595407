import type { Queries } from '../../../database/database.ts';
import type { Queue } from '../../../jobs/queue.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import type { ActivityLog, Change } from '../../../platform/activity-log.ts';
import { findCredential } from '../../identity/credentials/store.ts';
import { countRecoveryCodes } from '../../identity/second-factor/store.ts';
import { findUserById } from '../../identity/users/store.ts';
import { findAccount } from '../accounts/store.ts';
import { type AccessEvent, sendSecurityNotice } from './jobs.ts';

/**
 * An activity log that also queues security notices: mails to a user about changes to their access. The mail is queued
 * in the transaction of the log entry. Users without a password get none: they do not use the portal yet, and their
 * address may be mistyped.
 */
export function withSecurityNotices(
  log: ActivityLog,
  { queue, clock }: { queue: Queue; clock: Clock },
): ActivityLog {
  return {
    record: log.record,
    async recordForUser(transaction, actor, { userId, accountId = null }, change) {
      await log.recordForUser(transaction, actor, { userId, accountId }, change);
      const kind = noticeKindOf(change);
      if (kind === undefined) return;
      const { queries } = transaction;
      const person = await findUserById(queries, userId);
      if (!person || person.password_hash === null) return;
      const { means, credentialId, address, requestId } = actor.origin;
      await queue.enqueue(transaction, sendSecurityNotice, {
        payload: {
          user_id: userId,
          to: previousAddress(change) ?? person.email,
          first_name: person.first_name,
          at: timestamp(clock),
          by_operator: means === 'command_line',
          credential: await nameOfCredential(queries, credentialId),
          address,
          event: await eventOf(queries, kind, { userId, accountId }, change),
        },
        lane: null,
        requestId,
      });
    },
  };
}

/** The old address, if the address was changed: an attacker may control the new one. */
function previousAddress({ action, details }: Change): string | undefined {
  return action === 'profile.update' && typeof details?.from === 'string' ? details.from : undefined;
}

async function nameOfCredential(queries: Queries, credentialId: string | null): Promise<string | null> {
  if (credentialId === null) return null;
  return (await findCredential(queries, credentialId))?.name ?? null;
}

async function eventOf(
  queries: Queries,
  kind: AccessEvent['kind'],
  { userId, accountId }: { userId: string; accountId: string | null },
  { subject, details = {} }: Change,
): Promise<AccessEvent> {
  if (kind === 'wrong_codes') return { kind, codes: Number(details.wrong_codes) };
  if (kind === 'ssh_key_added') {
    const { fingerprint_md5, fingerprint_sha256 } = details;
    // The log shows the MD5 fingerprint as the name of a key without a comment.
    const name = subject.name === fingerprint_md5 ? '' : subject.name;
    return { kind, name, fingerprint: `SHA256:${fingerprint_sha256}` };
  }
  if (kind === 'recovery_code_used') {
    return { kind, codes_left: await countRecoveryCodes(queries, userId) };
  }
  switch (kind) {
    case 'first_passkey_added':
    case 'passkey_added':
    case 'passkey_removed':
    case 'last_passkey_removed':
    case 'passkey_copied':
      return { kind, name: subject.name };
  }
  if (kind !== 'credential_created') return { kind };
  const { read_only, installs, expires_at } = details;
  return {
    kind,
    name: subject.name,
    read_only: read_only === true,
    account: accountId === null ? null : ((await findAccount(queries, accountId))?.name ?? null),
    installs: typeof installs === 'number' ? installs : null,
    expires_at: typeof expires_at === 'string' ? expires_at : null,
  };
}

/** The kind of notice that a change causes; undefined: none. */
function noticeKindOf({ action, details, isFirst = false }: Change): AccessEvent['kind'] | undefined {
  switch (action) {
    case 'password.change':
      return 'password_changed';
    case 'password.set':
      return isFirst ? undefined : 'password_set';
    case 'second_factor.enable':
      return 'second_factor_on';
    case 'second_factor.disable':
      return details?.passkeys === undefined ? 'second_factor_off' : 'one_time_codes_off';
    case 'second_factor.renew_codes':
      return 'recovery_codes_renewed';
    case 'second_factor.refuse':
      return 'wrong_codes';
    case 'passkey.create':
      return details?.first_factor === true ? 'first_passkey_added' : 'passkey_added';
    case 'passkey.delete':
      return details?.last_factor === true ? 'last_passkey_removed' : 'passkey_removed';
    case 'passkey.refuse':
      return 'passkey_copied';
    case 'session.create':
      return details?.second_factor === 'recovery_code' ? 'recovery_code_used' : undefined;
    case 'credential.create':
      return 'credential_created';
    case 'ssh_key.create':
      return 'ssh_key_added';
    case 'profile.update':
      return details?.from === undefined ? undefined : 'email_changed';
    default:
      return undefined;
  }
}
