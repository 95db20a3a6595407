import type { Caller } from '../../../access/caller.ts';
import { hasLimitedScope } from '../../../access/limits.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { uniqueViolation } from '../../../database/unique-violation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Forbidden, InvalidRequest, NotFound, taken } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { presentCredential } from '../credentials/present-credential.ts';
import { PUBLIC_KEY_FAULTS, type PublicKeyFault, parsePublicKey } from './public-key.ts';
import { countSshKeys, deleteSshKey, insertSshKey, pageOfSshKeys, type SshKeyView } from './store.ts';

export type { SshKeyView };

/** Keys of one user; stops a client that adds keys in a loop. */
export const MAX_KEYS = 1000;

export type SshKeyService = ReturnType<typeof createSshKeyService>;

/** The SSH keys of users, for SFTP and SSH. */
export function createSshKeyService({
  database,
  activity,
  clock,
  random,
  config,
}: Pick<Platform, 'database' | 'activity' | 'clock' | 'random' | 'config'>) {
  const { reader } = database;

  async function record(
    transaction: Transaction,
    caller: Caller,
    action: 'ssh_key.create' | 'ssh_key.delete',
    { id, comment, fingerprint_md5, fingerprint_sha256 }: Omit<SshKeyView, 'created_at'>,
  ): Promise<void> {
    await activity.recordForUser(
      transaction,
      caller,
      { userId: caller.userId },
      {
        action,
        subject: { id, name: comment || fingerprint_md5 },
        details: { fingerprint_md5, fingerprint_sha256 },
      },
    );
  }

  return {
    list: (caller: Caller, page: PageRequest): Promise<PageOf<SshKeyView>> =>
      pageOfSshKeys(reader, caller.userId, page),

    /** Throws InvalidRequest, Forbidden; Unauthenticated if the caller's credential has just ended. */
    async add(caller: Caller, text: string): Promise<SshKeyView> {
      requireUnlimited(caller);
      const parsed = parsePublicKey(text, { securityKeys: config.host === 'linux' });
      if (!parsed.ok) throw invalidKey(parsed.reason);
      const { key } = parsed;
      const row = {
        id: random.uuid(),
        comment: key.comment,
        fingerprint_md5: key.fingerprintMd5,
        fingerprint_sha256: key.fingerprintSha256,
        created_at: timestamp(clock),
      };
      await changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'users', caller.userId);
        const { expiresAt } = await presentCredential(transaction.queries, caller, row.created_at);
        if (expiresAt !== null) throw outlives(expiresAt);
        if ((await countSshKeys(transaction.queries, caller.userId)) >= MAX_KEYS) throw tooMany();
        await insertSshKey(transaction.queries, { ...row, user_id: caller.userId, public_key: key.line });
        await record(transaction, caller, 'ssh_key.create', row);
      }).catch((error: unknown) => {
        if (uniqueViolation(error) !== 'ssh_keys.user_id, ssh_keys.fingerprint_sha256') throw error;
        throw taken('SshKey', 'public_key', 'You have already added this SSH key');
      });
      return row;
    },

    async remove(caller: Caller, id: string): Promise<void> {
      requireUnlimited(caller);
      await changeFor(database, caller, async (transaction) => {
        const removed = await deleteSshKey(transaction.queries, caller.userId, id);
        if (!removed) throw new NotFound();
        await record(transaction, caller, 'ssh_key.delete', removed);
      });
    },
  };
}

const tooMany = () =>
  new InvalidRequest(
    `You have reached the limit of ${MAX_KEYS} SSH keys. Remove one that you no longer need`,
  );

function outlives(expiresAt: string): InvalidRequest {
  const message = `This credential expires at ${expiresAt}, but an SSH key does not. Add the key in the portal or with a credential without an expiry`;
  return new InvalidRequest(message, [
    { resource: 'SshKey', field: 'public_key', type: 'access_error', code: 'wider', message },
  ]);
}

/** A key opens every install of its user, so a credential limited to an account or installs may not add or remove keys. */
function requireUnlimited({ limits }: Caller): void {
  if (hasLimitedScope(limits)) throw new Forbidden();
}

/** Faults that get the specification's message instead of a specific one. */
const FORMAT_FAULTS: PublicKeyFault[] = [
  'empty',
  'too_long',
  'several_lines',
  'several_keys',
  'control_character',
  'options',
  'malformed',
];

function invalidKey(reason: PublicKeyFault): InvalidRequest {
  return new InvalidRequest('Invalid SSH key format', [
    {
      resource: 'SshKey',
      field: 'public_key',
      type: 'invalid_value',
      code: 'invalid_format',
      message: FORMAT_FAULTS.includes(reason)
        ? 'SSH key must be in valid OpenSSH format'
        : PUBLIC_KEY_FAULTS[reason],
    },
  ]);
}
