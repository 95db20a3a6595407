import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Client, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { inviteTo, LAST_OWNER, usersOf } from './account-users.fixture.ts';

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

describe('DELETE /portal/api/accounts/{account_id}/membership', () => {
  const leave = async (person: Person, account: string) =>
    (await signedIn(homeport, person)).delete(`/accounts/${account}/membership`);

  it.each(['owner', 'full', 'partial'] as const)('lets a user with the role %s leave', async (roles) => {
    const own = await homeport.ownedAccount();
    const person = await homeport.person(own.accountId, roles);
    expect(await leave(person, own.accountId)).toMatchObject({ status: 204, body: undefined });
    expect((await person.client.get('/accounts')).body).toMatchObject({ count: 0 });
    expect((await activityOf(homeport, own.accountId)).at(-1)).toMatchObject({
      action: 'account_user.remove',
      subject_id: person.userId,
      subject_name: person.email,
      user_id: person.userId,
      means: 'portal',
      details: { self: true },
    });
    expect(await leave(person, own.accountId)).toMatchObject(NOT_FOUND);
  });

  it('refuses the last owner and non-members', async () => {
    const own = await homeport.ownedAccount();
    expect(await leave(own.owner, own.accountId)).toMatchObject(LAST_OWNER);
    expect(await leave(owner, own.accountId)).toMatchObject(NOT_FOUND);
    expect(await leave(owner, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect((await own.owner.client.get('/accounts')).body).toMatchObject({ count: 1 });
  });

  it('refuses the only owner who has accepted; an open invitation can be revoked', async () => {
    const own = await homeport.ownedAccount();
    const invited = await invite(own.owner.client, { roles: 'owner' }, own.accountId);
    expect(invited.body).toMatchObject({ account_user: { roles: 'owner', last_owner: false } });
    const self = `${users(own.accountId)}/${own.owner.userId}`;
    expect((await own.owner.client.get(self)).body).toMatchObject({ last_owner: true });
    expect(await leave(own.owner, own.accountId)).toMatchObject(LAST_OWNER);
    expect(await own.owner.client.patch(self, { roles: 'full' })).toMatchObject(LAST_OWNER);
    const other = `${users(own.accountId)}/${text(invited.body, 'account_user', 'user_id')}`;
    expect(await own.owner.client.delete(other)).toMatchObject({ status: 204 });
  });

  it('lets one of two owners go when both leave at once', async () => {
    const own = await homeport.ownedAccount();
    const second = await homeport.person(own.accountId, 'owner');
    const browsers = await Promise.all([own.owner, second].map((person) => signedIn(homeport, person)));
    const answers = await Promise.all(
      browsers.map((browser) => browser.delete(`/accounts/${own.accountId}/membership`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
  });
});
