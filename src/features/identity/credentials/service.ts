import type { Static } from 'typebox';
import { type Caller, operatorFor } from '../../../access/caller.ts';
import { parseLimits } from '../../../access/limits.ts';
import { loadScope, type Scope } from '../../../access/memberships.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import { findUserProfile } from '../users/store.ts';
import { type GrantedLimits, readExpiry, requireLimits, type WantedLimits } from './rules.ts';
import type { createCredentialSchema, credentialSchema } from './schema.ts';
import {
  allCredentials,
  type CredentialRow,
  countWorking,
  findCredential,
  findCredentialOwner,
  findInstallNames,
  insertCredential,
  ownCredentials,
  revokeCredential,
  revokeWorking,
} from './store.ts';

export type OwnCredential = Static<typeof credentialSchema>;
export type NewCredential = Static<typeof createCredentialSchema>;

/** A credential as the operator is shown it. */
export interface CredentialView extends OwnCredential {
  /** Whose it is. */
  email: string;
}

export interface IssuedCredential {
  username: string;
  /** Shown once; only its hash is kept. */
  password: string;
}

const UNLIMITED: WantedLimits = { readOnly: false, accountId: null, installs: null };
/** How many credentials of one person work at a time. */
const MAX_WORKING = 100;
/** How long credentials are listed after they were revoked or have expired; then they are removed (tidy.ts). */
export const KEEP_ENDED_MS = 30 * DAY_MS;
/** What stands for the name of an account whose credentials outlive somebody's membership. */
const ACCOUNT_OF_OTHERS = 'an account that is no longer yours';

export type CredentialService = ReturnType<typeof createCredentialService>;

/**
 * API credentials (specification, Authentication). `forget` is told of each that changes, so that this process knows at
 * once; others know within seconds.
 */
export function createCredentialService(
  { database, activity, clock, random }: Pick<Platform, 'database' | 'activity' | 'clock' | 'random'>,
  forget: (credentialId: string) => void = () => {},
) {
  const newCredential = (): IssuedCredential => ({ username: random.uuid(), password: newSecret(random) });

  async function insert(
    transaction: Transaction,
    actor: Caller,
    issued: IssuedCredential,
    { name, expiresAt, limits }: { name: string; expiresAt: string | null; limits: GrantedLimits },
  ): Promise<void> {
    const { readOnly, accountId, installs, installIds } = limits;
    await insertCredential(transaction.queries, {
      id: issued.username,
      user_id: actor.userId,
      name,
      password_hash: hashSecret(issued.password),
      expires_at: expiresAt,
      read_only: readOnly,
      account_id: accountId,
      install_ids: installIds === null ? null : JSON.stringify(installIds),
      created_at: timestamp(clock),
    });
    const person = { userId: actor.userId, accountId };
    await activity.recordForUser(transaction, actor, person, {
      action: 'credential.create',
      subject: { id: issued.username, name },
      details: {
        ...(readOnly ? { read_only: true } : {}),
        ...(installs === null ? {} : { installs: installs.length }),
        ...(expiresAt === null ? {} : { expires_at: expiresAt }),
        ...(await ofWhom(transaction.queries, actor)),
      },
    });
  }

  /** Refuses a credential from now on, if it is not revoked already; writes down who did it. Throws NotFound. */
  async function revoke(id: string, actorFor: (userId: string) => Caller | null): Promise<void> {
    const found = await database.write(async (transaction) => {
      const { queries } = transaction;
      const credential = await findCredentialOwner(queries, id);
      const actor = credential && actorFor(credential.user_id);
      if (!credential || !actor) return false;
      if (!(await revokeCredential(queries, id, timestamp(clock)))) return true;
      const person = { userId: credential.user_id, accountId: credential.account_id };
      const details = await ofWhom(queries, actor);
      await activity.recordForUser(transaction, actor, person, {
        action: 'credential.revoke',
        subject: { id, name: credential.name },
        ...(details && { details }),
      });
      return true;
    });
    if (!found) throw new NotFound();
    forget(id);
  }

  async function one(id: string): Promise<CredentialView> {
    const row = await findCredential(database.reader, id);
    const [credential] = await described(database.reader, row ? [row] : [], null);
    if (!credential) throw new NotFound();
    return credential;
  }

  return {
    /**
     * Makes a credential for a person, on the operator's behalf; `given` for scripted set-ups, else random. Throws NotFound,
     * and InvalidRequest for limits that name what the person does not see.
     */
    async issue(
      userId: string,
      {
        name,
        expiresAt = null,
        given = newCredential(),
        limits = UNLIMITED,
      }: { name: string; expiresAt?: Date | null; given?: IssuedCredential; limits?: WantedLimits },
    ): Promise<IssuedCredential> {
      const actor = operatorFor(userId);
      await database.write(async (transaction) => {
        if (!(await lockRow(transaction, 'users', userId))) throw new NotFound();
        const granted = await requireLimits(transaction.queries, actor, limits, []);
        const expires = expiresAt?.toISOString() ?? null;
        await insert(transaction, actor, given, { name, expiresAt: expires, limits: granted });
      });
      return given;
    },

    /** The latest first. What has ended is told of for a while. */
    async listOwn(caller: Caller): Promise<OwnCredential[]> {
      const { reader } = database;
      const rows = await ownCredentials(reader, caller.userId, timestamp(clock, -KEEP_ENDED_MS));
      const own = await described(reader, rows, await loadScope(reader, caller));
      return own.map(({ email: _email, ...credential }) => credential);
    },

    /** Throws InvalidRequest. */
    async issueOwn(caller: Caller, input: NewCredential): Promise<OwnCredential & { password: string }> {
      const issued = newCredential();
      const now = clock.now();
      const { expiresAt, faults } = readExpiry(input.expires_at ?? null, now);
      const name = input.name.trim();
      const ids = input.install_ids?.map((id) => id.toLowerCase()) ?? null;
      const wanted: WantedLimits = {
        readOnly: input.read_only ?? false,
        accountId: input.account_id?.toLowerCase() ?? null,
        installs: ids && { by: 'id', values: ids },
      };
      await database.write(async (transaction) => {
        const { queries } = transaction;
        // Held, so that of several at once no more get through than may.
        await lockRow(transaction, 'users', caller.userId);
        const granted = await requireLimits(queries, caller, wanted, faults);
        if ((await countWorking(queries, caller.userId, now.toISOString())) >= MAX_WORKING) {
          throw new InvalidRequest(
            `You have ${MAX_WORKING} credentials that work, the most there can be; revoke one that is not needed`,
          );
        }
        await insert(transaction, caller, issued, { name, expiresAt, limits: granted });
      });
      const { email: _email, ...own } = await one(issued.username);
      return { ...own, password: issued.password };
    },

    /** Throws NotFound. */
    revokeOwn: (caller: Caller, id: string): Promise<void> =>
      revoke(id, (userId) => (userId === caller.userId ? caller : null)),

    /** Revokes all of a person's own that work, in the transaction of what they end them with. */
    async revokeAllOwn(transaction: Transaction, owner: Caller): Promise<void> {
      const { userId } = owner;
      const revoked = await revokeWorking(transaction.queries, userId, timestamp(clock));
      for (const { id, name, account_id: accountId } of revoked) {
        await activity.recordForUser(
          transaction,
          owner,
          { userId, accountId },
          { action: 'credential.revoke', subject: { id, name } },
        );
      }
      transaction.afterCommit(() => {
        for (const { id } of revoked) forget(id);
      });
    },

    /** For the command line: the credentials of one person (by e-mail address) or of all, oldest first. */
    async list(email?: string): Promise<CredentialView[]> {
      const rows = await allCredentials(database.reader, email?.toLowerCase());
      return described(database.reader, rows, null);
    },

    /** For the command line: from now on it is refused. Revoking a revoked one changes nothing. Throws NotFound. */
    revoke: (id: string): Promise<void> => revoke(id, operatorFor),
  };
}

/** Whose credential it is, where that is not who made the change: the operator makes them for people. */
async function ofWhom(queries: Queries, { userId, origin }: Caller): Promise<{ of: string } | undefined> {
  if (origin.means !== 'command_line') return undefined;
  const person = await findUserProfile(queries, userId);
  return person && { of: person.email };
}

/** Credentials with the names of what they are limited to, as far as a scope shows it; null: all of it, to the operator. */
async function described(
  queries: Queries,
  rows: CredentialRow[],
  scope: Scope | null,
): Promise<CredentialView[]> {
  const limited = rows.map((row) => ({ ...row, installIds: parseLimits(row)?.installIds ?? null }));
  const ids = new Set(limited.flatMap(({ installIds }) => installIds ?? []));
  const names = await findInstallNames(queries, ids, scope);
  const seen = scope && new Set([...scope.whole, ...scope.partial].map(({ account_id }) => account_id));
  const accountOf = ({ account_id: id, account_name: name }: CredentialRow) =>
    id === null || name === null ? null : { id, name: seen?.has(id) === false ? ACCOUNT_OF_OTHERS : name };
  return limited.map((credential) => {
    const { account_id: _id, account_name: _name, install_ids: _stored, installIds, ...row } = credential;
    return {
      ...row,
      account: accountOf(credential),
      installs:
        installIds?.flatMap((id) => {
          const name = names.get(id);
          return name === undefined ? [] : [{ id, name }];
        }) ?? null,
    };
  });
}
