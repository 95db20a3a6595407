import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { signedIn } from '../../test/portal-client.ts';
import { type Caller, operatorFor } from '../access/caller.ts';

let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
});
afterAll(() => homeport?.remove());

function byApi(userId: string, credentialId: string): Caller {
  return {
    userId,
    limits: null,
    origin: { means: 'api', credentialId, address: '192.0.2.7', requestId: 'r1' },
  };
}

/** Entries of the test itself, without those for creating its accounts and users. */
function rowsOf(accountId: string | null) {
  return homeport.platform.database.reader
    .selectFrom('activity')
    .selectAll()
    .where('account_id', accountId === null ? 'is' : '=', accountId)
    .where('action', 'not in', ['account.create', 'credential.create'])
    .orderBy('seq')
    .execute();
}

describe('an entry', () => {
  it('holds user, credential and address, and the names of that time', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { platform } = homeport;
    const siteId = crypto.randomUUID();
    await platform.database.write((transaction) =>
      platform.activity.record(transaction, byApi(owner.userId, owner.credential.username), accountId, {
        action: 'site.create',
        subject: { id: siteId, name: 'A “site”' },
        details: { name: 'A “site”', count: 3, ready: true, before: null },
      }),
    );
    await platform.database.write(async ({ queries }) => {
      await queries.updateTable('users').set({ first_name: 'Else' }).where('id', '=', owner.userId).execute();
      await queries
        .updateTable('credentials')
        .set({ name: 'else' })
        .where('user_id', '=', owner.userId)
        .execute();
    });

    expect(await rowsOf(accountId)).toEqual([
      expect.objectContaining({
        action: 'site.create',
        subject_id: siteId,
        subject_name: 'A “site”',
        install_id: null,
        details: { name: 'A “site”', count: 3, ready: true, before: null },
        user_id: owner.userId,
        user_name: `Test Person (${owner.email})`,
        means: 'api',
        credential_id: owner.credential.username,
        credential_name: 'test',
        address: '192.0.2.7',
        request_id: 'r1',
      }),
    ]);
  });

  it('replaces lone surrogates, which PostgreSQL refuses', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { platform } = homeport;
    await platform.database.write((transaction) =>
      platform.activity.record(transaction, byApi(owner.userId, owner.credential.username), accountId, {
        action: 'site.update',
        subject: { id: crypto.randomUUID(), name: 'Site' },
        details: { from: 'Site', to: 'half \ud800' },
      }),
    );
    expect(await rowsOf(accountId)).toMatchObject([{ details: { from: 'Site', to: 'half \ufffd' } }]);
  });

  it('is rolled back with its change', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { platform } = homeport;
    const failing = platform.database.write(async (transaction) => {
      await platform.activity.record(transaction, operatorFor(owner.userId), accountId, {
        action: 'site.create',
        subject: { id: null, name: 'never' },
      });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await rowsOf(accountId)).toEqual([]);
  });

  it('names the operator and the platform, and users without a name by their address', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { platform } = homeport;
    const nameless = await homeport.person(accountId, 'full');
    await platform.database.write(async (transaction) => {
      await transaction.queries
        .updateTable('users')
        .set({ first_name: '', last_name: ' ' })
        .where('id', '=', nameless.userId)
        .execute();
      const change = { action: 'account.update', subject: { id: accountId, name: 'An account' } } as const;
      const nobody = { credentialId: null, address: null, requestId: null };
      for (const actor of [
        operatorFor(owner.userId),
        { userId: null, origin: { means: 'command_line', ...nobody } } as const,
        { userId: null, origin: { means: 'platform', ...nobody } } as const,
        byApi(nameless.userId, nameless.credential.username),
      ]) {
        await platform.activity.record(transaction, actor, accountId, change);
      }
    });
    expect((await rowsOf(accountId)).map((row) => [row.user_id, row.user_name])).toEqual([
      [null, 'the operator'],
      [null, 'the operator'],
      [null, 'Homeport'],
      [nameless.userId, nameless.email],
    ]);
  });

  it('shows the address of a user who calls themselves the operator', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { platform } = homeport;
    await platform.database.write(async (transaction) => {
      await transaction.queries
        .updateTable('users')
        .set({ first_name: 'the', last_name: 'operator' })
        .where('id', '=', owner.userId)
        .execute();
      await platform.activity.record(transaction, byApi(owner.userId, owner.credential.username), accountId, {
        action: 'account.update',
        subject: { id: accountId, name: 'An account' },
      });
    });
    expect((await rowsOf(accountId)).map((row) => row.user_name)).toEqual([`the operator (${owner.email})`]);
  });

  it('for a user goes to no account whose invitation is open', async () => {
    const { platform } = homeport;
    const { accountId, owner: known } = await homeport.ownedAccount();
    const inviting = await homeport.ownedAccount();
    await inviting.owner.client.post(`/accounts/${inviting.accountId}/account_users`, {
      user: {
        account_id: inviting.accountId,
        first_name: 'A',
        last_name: 'B',
        email: known.email,
        roles: 'full',
      },
    });
    const note = (limitedTo: string | null) =>
      platform.database.write((transaction) =>
        platform.activity.recordForUser(
          transaction,
          byApi(known.userId, known.credential.username),
          { userId: known.userId, accountId: limitedTo },
          { action: 'ssh_key.create', subject: { id: null, name: 'of their own' } },
        ),
      );
    await note(null);
    await note(inviting.accountId);
    await signedIn(homeport, known);
    const actions = async (account: string) => (await rowsOf(account)).map((row) => row.action);
    expect(await actions(accountId)).toEqual(['ssh_key.create', 'session.create']);
    expect(await actions(inviting.accountId)).toEqual(['account_user.invite']);
  });

  it('for a user goes to all their accounts, to one, or to none', async () => {
    const { platform } = homeport;
    const { accountId, owner } = await homeport.ownedAccount();
    const other = await homeport.account();
    await platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: other,
          user_id: owner.userId,
          role: 'partial',
          billing: false,
          invite_accepted: true,
          created_at: new Date().toISOString(),
        })
        .execute(),
    );
    const outsider = await homeport.person();
    const note = (person: { userId: string; accountId?: string }, name: string) =>
      platform.database.write((transaction) =>
        platform.activity.recordForUser(
          transaction,
          byApi(person.userId, owner.credential.username),
          person,
          { action: 'ssh_key.create', subject: { id: null, name } },
        ),
      );
    await note({ userId: owner.userId }, 'in both');
    await note({ userId: owner.userId, accountId: other }, 'in one');
    await note({ userId: outsider.userId }, `nowhere ${outsider.userId}`);

    const namesIn = async (account: string | null) => (await rowsOf(account)).map((row) => row.subject_name);
    expect(await namesIn(accountId)).toEqual(['in both']);
    expect(await namesIn(other)).toEqual(['in both', 'in one']);
    expect(await namesIn(null)).toContain(`nowhere ${outsider.userId}`);
  });
});
