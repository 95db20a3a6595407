import type { Static } from 'typebox';
import { type Caller, OPERATOR, operatorFor } from '../../../access/caller.ts';
import { parseLimits } from '../../../access/limits.ts';
import { loadScope, type Scope } from '../../../access/memberships.ts';
import { RATE_LIMITS, type RateCounter } from '../../../access/rate-limits.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashSecret, newSecret } from '../../../secrets/random-secret.ts';
import { countMails } from '../limits/mail-limits.ts';
import { findUserProfile } from '../users/store.ts';
import { presentCredential } from './present-credential.ts';
import {
  faultsOfWidth,
  type GrantedLimits,
  reachesNoMore,
  readExpiry,
  requireLimits,
  type WantedLimits,
} from './rules.ts';
import type { createCredentialSchema, credentialSchema } from './schema.ts';
import {
  allCredentials,
  type CredentialRow,
  countActive,
  findCredential,
  findCredentialOwner,
  findInstallNames,
  insertCredential,
  ownCredentials,
  revokeActive,
  revokeCredential,
} from './store.ts';

export type OwnCredential = Static<typeof credentialSchema>;
export type NewCredential = Static<typeof createCredentialSchema>;

/** A credential, as the operator sees it. */
export interface CredentialView extends OwnCredential {
  /** The email address of its user. */
  email: string;
}

export interface IssuedCredential {
  username: string;
  /** Shown once; only its hash is stored. */
  password: string;
}

const UNLIMITED: WantedLimits = { readOnly: false, accountId: null, installs: null };
/** Active credentials of one user. */
const MAX_ACTIVE = 100;
/** How long revoked and expired credentials are listed. Then retention deletes them. */
export const KEEP_ENDED_MS = 30 * DAY_MS;
/** Replaces the name of an account that the user has left. */
const LEFT_ACCOUNT = 'an account that is no longer yours';

export type CredentialService = ReturnType<typeof createCredentialService>;

/**
 * API credentials (specification, Authentication). `forget` drops a revoked credential from this process's cache at
 * once; other processes notice within seconds.
 */
export function createCredentialService(
  { database, activity, clock, random }: Pick<Platform, 'database' | 'activity' | 'clock' | 'random'>,
  counter: RateCounter,
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
        ...(await ownerDetails(transaction.queries, actor)),
      },
    });
  }

  /** Revokes a credential and logs it; does nothing if it is revoked already. Throws NotFound. */
  async function revoke(
    requester: Actor,
    id: string,
    actorFor: (credential: OwnedCredential) => Caller | null,
  ): Promise<void> {
    const found = await changeFor(database, requester, async (transaction) => {
      const { queries } = transaction;
      const credential = await findCredentialOwner(queries, id);
      const actor = credential && actorFor(credential);
      if (!credential || !actor) return false;
      if (!(await revokeCredential(queries, id, timestamp(clock)))) return true;
      const person = { userId: credential.user_id, accountId: credential.account_id };
      const details = await ownerDetails(queries, actor);
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
    return database.snapshot(async (reader) => {
      const row = await findCredential(reader, id);
      const [credential] = await withNames(reader, row ? [row] : [], null);
      if (!credential) throw new NotFound();
      return credential;
    });
  }

  return {
    /**
     * Issues a credential for a user, by the operator. `given` is for scripted set-ups; otherwise it is random. Throws
     * NotFound, and InvalidRequest for limits beyond what the user sees.
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

    /** A page of the caller's credentials, latest first, with those that ended in the last 30 days. */
    async listOwn(caller: Caller, { limit, offset }: PageRequest): Promise<PageOf<OwnCredential>> {
      return database.snapshot(async (reader) => {
        const all = await ownCredentials(reader, caller.userId, timestamp(clock, -KEEP_ENDED_MS));
        const rows = all.filter((row) => reachesNoMore(parseLimits(row), caller.limits));
        const shown = rows.slice(offset, offset + limit);
        const own = await withNames(reader, shown, await loadScope(reader, caller));
        return { count: rows.length, results: own.map(({ email: _email, ...credential }) => credential) };
      });
    },

    /** Throws InvalidRequest, RateLimited; Unauthenticated if the caller's credential has just ended. */
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
      const counted = await countMails(
        counter,
        [[RATE_LIMITS.newCredentials, caller.userId]],
        'Too many new credentials',
      );
      const inserted = changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        // The lock makes concurrent requests respect the limit.
        await lockRow(transaction, 'users', caller.userId);
        const creator = await presentCredential(queries, caller, now.toISOString());
        const person = { ...caller, limits: creator.limits };
        const wider = faultsOfWidth(creator, wanted, expiresAt);
        const granted = await requireLimits(queries, person, wanted, [...faults, ...wider]);
        if ((await countActive(queries, caller.userId, now.toISOString())) >= MAX_ACTIVE) {
          throw new InvalidRequest(
            `You have reached the limit of ${MAX_ACTIVE} active credentials. Revoke one that you no longer need`,
          );
        }
        await insert(transaction, caller, issued, { name, expiresAt, limits: granted });
      });
      await inserted.catch((error: unknown) => {
        counted.refused();
        throw error;
      });
      const { email: _email, ...own } = await one(issued.username);
      return { ...own, password: issued.password };
    },

    /** Throws NotFound, also for a credential that reaches more than the caller's. */
    revokeOwn: (caller: Caller, id: string): Promise<void> =>
      revoke(caller, id, ({ user_id, ...row }) =>
        user_id === caller.userId && reachesNoMore(parseLimits(row), caller.limits) ? caller : null,
      ),

    /** Revokes all active credentials of the caller, in the given transaction. */
    async revokeAllOwn(transaction: Transaction, owner: Caller): Promise<void> {
      const { userId } = owner;
      const revoked = await revokeActive(transaction.queries, userId, timestamp(clock));
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

    /** For the command line: the credentials of one user (by email address) or of all, oldest first. */
    async list(email?: string): Promise<CredentialView[]> {
      const rows = await allCredentials(database.reader, email?.toLowerCase());
      return withNames(database.reader, rows, null);
    },

    /** For the command line: revokes a credential; does nothing if it is revoked already. Throws NotFound. */
    revoke: (id: string): Promise<void> => revoke(OPERATOR, id, ({ user_id }) => operatorFor(user_id)),
  };
}

type OwnedCredential = NonNullable<Awaited<ReturnType<typeof findCredentialOwner>>>;

/** Log details with the user of a credential, if the operator made the change. */
async function ownerDetails(
  queries: Queries,
  { userId, origin }: Caller,
): Promise<{ of: string } | undefined> {
  if (origin.means !== 'command_line') return undefined;
  const person = await findUserProfile(queries, userId);
  return person && { of: person.email };
}

/** Adds the names of the account and installs that credentials are limited to, as far as `scope` shows them; null: all. */
async function withNames(
  queries: Queries,
  rows: CredentialRow[],
  scope: Scope | null,
): Promise<CredentialView[]> {
  const limited = rows.map((row) => ({ ...row, installIds: parseLimits(row)?.installIds ?? null }));
  const ids = new Set(limited.flatMap(({ installIds }) => installIds ?? []));
  const names = await findInstallNames(queries, ids, scope);
  const seen = scope && new Set([...scope.whole, ...scope.partial].map(({ account_id }) => account_id));
  const accountOf = ({ account_id: id, account_name: name }: CredentialRow) =>
    id === null || name === null ? null : { id, name: seen?.has(id) === false ? LEFT_ACCOUNT : name };
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
