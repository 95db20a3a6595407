import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { inviteTo, LAST_OWNER, newAddress, usersOf } from './account-users.fixture.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const users = (account = accountId) => usersOf(account);
const invite = (client: Client, more: object = {}, account = accountId) => inviteTo(account, client, more);

describe('concurrent requests', () => {
  it('create the same new user once', async () => {
    const email = newAddress();
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        invite(owner.client, { email: index % 2 ? email : email.toUpperCase() }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(4).fill(400)]);
    for (const { status, body } of answers) {
      if (status === 400) expect(field(body, 'errors', 0)).toMatchObject({ field: 'email', code: 'taken' });
    }
  });

  it('create one user in several accounts', async () => {
    const email = newAddress();
    const owned = await Promise.all(Array.from({ length: 5 }, () => homeport.ownedAccount()));
    const answers = await Promise.all(
      owned.map(({ accountId: account_id, owner: { client } }) =>
        client.post(users(account_id), {
          user: { account_id, first_name: 'A', last_name: 'B', email, roles: 'full' },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(201));
    expect(new Set(answers.map(({ body }) => text(body, 'account_user', 'user_id'))).size).toBe(1);
  });

  it.each(['PATCH', 'DELETE'])('leave one owner when two owners %s each other', async (method) => {
    for (let round = 0; round < 3; round++) {
      const { accountId: account, owner: first } = await homeport.ownedAccount();
      const second = await homeport.person(account, 'owner');
      const demote = (actor: Person, person: Person) =>
        actor.client.call(method, `${users(account)}/${person.userId}`, {
          ...(method === 'PATCH' ? { json: { roles: 'full' } } : {}),
        });
      const answers = await Promise.all([demote(first, second), demote(second, first)]);
      // The first one demoted may no longer change the other, or no longer sees the account.
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect([400, 403, 404]).toContain(answers.find(({ status }) => status >= 300)?.status);
      const owners = await homeport.platform.database.reader
        .selectFrom('memberships')
        .select('user_id')
        .where('account_id', '=', account)
        .where('role', '=', 'owner')
        .execute();
      expect(owners).toHaveLength(1);
    }
  });

  it('leave one owner when both step down', async () => {
    const { accountId: account, owner: first } = await homeport.ownedAccount();
    const second = await homeport.person(account, 'owner');
    const answers = await Promise.all(
      [first, second].map((person) =>
        person.client.patch(`${users(account)}/${person.userId}`, { roles: 'partial' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)).toMatchObject(LAST_OWNER);
  });
});
