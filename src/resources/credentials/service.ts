import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import { timestamp } from '../../clock.ts';
import { hashSecret, newSecret } from '../../credential-secret.ts';
import { NotFound } from '../../failures.ts';
import type { Platform } from '../../platform.ts';
import type { createCredentialSchema, credentialSchema } from './schema.ts';

/** A credential as it is shown: never with its password. */
export interface CredentialView {
  /** The API username. */
  id: string;
  name: string;
  email: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

export type OwnCredential = Static<typeof credentialSchema>;
export type NewCredential = Static<typeof createCredentialSchema>;

export interface IssuedCredential {
  username: string;
  /** Shown once; only its hash is kept. */
  password: string;
}

export type CredentialService = ReturnType<typeof createCredentialService>;

/**
 * API credentials (specification, Authentication). `forget` is told of each that changes, so that this process knows at
 * once; others know within seconds.
 */
export function createCredentialService(
  { database, clock, random }: Pick<Platform, 'database' | 'clock' | 'random'>,
  forget: (credentialId: string) => void = () => {},
) {
  return {
    /** Makes a credential for a person; `given` for scripted set-ups, else random. Throws NotFound. */
    async issue(
      userId: string,
      { name, expiresAt = null, given }: { name: string; expiresAt?: Date | null; given?: IssuedCredential },
    ): Promise<IssuedCredential> {
      const issued = given ?? { username: random.uuid(), password: newSecret(random) };
      await database.write(async ({ queries }) => {
        const user = await queries
          .selectFrom('users')
          .select('id')
          .where('id', '=', userId)
          .executeTakeFirst();
        if (!user) throw new NotFound();
        await queries
          .insertInto('credentials')
          .values({
            id: issued.username,
            user_id: userId,
            name,
            password_hash: hashSecret(issued.password),
            expires_at: expiresAt?.toISOString() ?? null,
            revoked_at: null,
            last_used_at: null,
            created_at: timestamp(clock),
          })
          .execute();
      });
      return issued;
    },

    /** The latest first. */
    async listOwn(_caller: Caller): Promise<OwnCredential[]> {
      throw new Error('being built');
    },

    /** Throws InvalidRequest, NotFound. */
    async issueOwn(_caller: Caller, _input: NewCredential): Promise<OwnCredential & { password: string }> {
      throw new Error('being built');
    },

    /** Throws NotFound. */
    async revokeOwn(_caller: Caller, _id: string): Promise<void> {
      throw new Error('being built');
    },

    /** The credentials of one person (by e-mail address) or of all, oldest first. */
    list: (email?: string): Promise<CredentialView[]> =>
      database.reader
        .selectFrom('credentials as credential')
        .innerJoin('users as person', 'person.id', 'credential.user_id')
        .select([
          'credential.id',
          'credential.name',
          'person.email',
          'credential.expires_at',
          'credential.revoked_at',
          'credential.last_used_at',
          'credential.created_at',
        ])
        .$if(email !== undefined, (query) =>
          query.where('person.email_key', '=', (email ?? '').toLowerCase()),
        )
        .orderBy('credential.seq')
        .execute(),

    /** From now on it is refused. Revoking a revoked one changes nothing. Throws NotFound. */
    async revoke(id: string): Promise<void> {
      const found = await database.write(async ({ queries }) => {
        await queries
          .updateTable('credentials')
          .set({ revoked_at: timestamp(clock) })
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .execute();
        return queries.selectFrom('credentials').select('id').where('id', '=', id).executeTakeFirst();
      });
      forget(id);
      if (!found) throw new NotFound();
    },
  };
}
