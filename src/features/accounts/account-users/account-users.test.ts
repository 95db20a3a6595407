import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { FORBIDDEN, NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import { INVALID_ROLE, inviteTo, LAST_OWNER, usersOf } from './account-users.fixture.ts';

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

describe('GET account_users', () => {
  it('lists the users oldest first; a partial user sees their own entry', async () => {
    const own = await homeport.ownedAccount();
    const full = await homeport.person(own.accountId, 'full,billing');
    const install = await homeport.install(own.owner, own.accountId);
    const partial = await homeport.person(own.accountId, 'partial', [install.id]);
    const entry = (person: Person, roles: string, more: object = {}) => ({
      user_id: person.userId,
      account_id: own.accountId,
      first_name: 'Test',
      last_name: 'Person',
      email: person.email,
      phone: null,
      invite_accepted: true,
      mfa_enabled: false,
      roles,
      ...more,
    });
    const partialEntry = entry(partial, 'partial', { installs: [install] });
    const results = [
      entry(own.owner, 'owner', { last_owner: true }),
      entry(full, 'billing, full'),
      partialEntry,
    ];
    for (const person of [own.owner, full]) {
      expect(await person.client.get(users(own.accountId))).toMatchObject({ status: 200, body: { results } });
    }
    expect((await partial.client.get(users(own.accountId))).body).toEqual({ results: [partialEntry] });

    // One entry each: their own, another user's, an unknown one.
    const get = (id: string) => partial.client.get(`${users(own.accountId)}/${id}`);
    expect((await get(partial.userId)).body).toEqual(partialEntry);
    for (const id of [full.userId, owner.userId, crypto.randomUUID(), 'x']) {
      expect(await get(id)).toMatchObject(NOT_FOUND);
    }
    expect((await full.client.get(`${users(own.accountId)}/${partial.userId}`)).body).toEqual(partialEntry);
  });

  it('reveals nothing about accounts of others', async () => {
    const { accountId: hidden, owner: member } = await homeport.ownedAccount();
    for (const id of [hidden, crypto.randomUUID()]) {
      expect(await owner.client.get(users(id))).toMatchObject({
        status: 400,
        body: { message: 'Bad request - invalid parameters' },
      });
      for (const user of [member.userId, owner.userId]) {
        expect(await owner.client.get(`${users(id)}/${user}`)).toMatchObject(NOT_FOUND);
      }
    }
    expect(await owner.client.get(users('x'))).toMatchObject({
      status: 400,
      body: { message: 'Invalid account ID format' },
    });
  });
});

describe('PATCH account_users/{user_id}', () => {
  const change = (client: Client, user: string, body: object, account = accountId) =>
    client.patch(`${users(account)}/${user}`, body);

  it('changes roles, and with them the granted installs', async () => {
    const install = await homeport.install(owner, accountId);
    const member = await homeport.person(accountId, 'partial', [install.id]);
    const account_user = (more: object) => ({
      status: 200,
      body: { message: 'Your change was successful.', account_user: { user_id: member.userId, ...more } },
    });

    // Without install_ids, grants stay.
    expect(await change(owner.client, member.userId, { roles: 'partial,billing' })).toMatchObject(
      account_user({ roles: 'billing, partial', installs: [install] }),
    );
    expect(await change(owner.client, member.userId, { roles: 'partial', install_ids: [] })).toMatchObject(
      account_user({ roles: 'partial', installs: [] }),
    );
    expect((await member.client.get('/installs')).body).toMatchObject({ count: 0 });
    await change(owner.client, member.userId, { roles: 'partial', install_ids: [install.id] });
    expect((await member.client.get('/installs')).body).toMatchObject({ count: 1, results: [install] });

    // A full user sees everything, and has no grants left when they are partial again.
    expect(await change(owner.client, member.userId, { roles: 'full' })).toMatchObject(
      account_user({ roles: 'full' }),
    );
    expect(await change(owner.client, member.userId, { roles: 'partial' })).toMatchObject(
      account_user({ roles: 'partial', installs: [] }),
    );
  });

  it.each([['admin'], [''], ['FULL'], [null], [['full']]])('refuses the role %j', async (roles) => {
    const member = await homeport.person(accountId, 'partial');
    expect(await change(owner.client, member.userId, { roles })).toMatchObject(INVALID_ROLE);
  });

  it('needs roles, and installs of the account', async () => {
    const member = await homeport.person(accountId, 'partial');
    const missing = await change(owner.client, member.userId, {});
    expect(missing.status).toBe(400);
    expect(field(missing.body, 'errors')).toMatchObject([
      { resource: 'AccountUser', field: 'roles', type: 'missing_field', code: 'required' },
    ]);
    expect(
      await change(owner.client, member.userId, {
        roles: 'full,billing',
        install_ids: [crypto.randomUUID()],
      }),
      'full users get no grants',
    ).toMatchObject({ status: 200 });
    expect(
      await change(owner.client, member.userId, { roles: 'partial', install_ids: [crypto.randomUUID()] }),
    ).toMatchObject(
      refusal(
        'AccountUser.install_ids',
        'access_error / not_permitted',
        'An install of install_ids is not in this account',
      ),
    );
    const after = await owner.client.get(`${users()}/${member.userId}`);
    expect(after.body, 'what was refused changed nothing').toMatchObject({ roles: 'billing, full' });
  });

  it('refuses to change or remove the last owner, but allows it with two', async () => {
    const own = await homeport.ownedAccount();
    const first = own.owner;
    const path = (person: Person) => `${users(own.accountId)}/${person.userId}`;
    expect(await first.client.patch(path(first), { roles: 'full' })).toMatchObject(LAST_OWNER);
    expect(await first.client.delete(path(first))).toMatchObject(LAST_OWNER);
    expect((await first.client.patch(path(first), { roles: 'owner' })).body).toMatchObject({
      account_user: { roles: 'owner', last_owner: true },
    });

    const second = await homeport.person(own.accountId, 'full');
    expect((await first.client.patch(path(second), { roles: 'owner' })).body).toMatchObject({
      account_user: { roles: 'owner', last_owner: false },
    });
    expect((await first.client.get(path(first))).body).toMatchObject({ last_owner: false });
    expect(await second.client.patch(path(first), { roles: 'partial' })).toMatchObject({ status: 200 });
    expect((await second.client.get(path(second))).body).toMatchObject({ last_owner: true });
    expect(await second.client.delete(path(second))).toMatchObject(LAST_OWNER);
  });

  it('lets users manage only roles up to their own, and billing only if they have it', async () => {
    const full = await homeport.person(accountId, 'full');
    const fullBilling = await homeport.person(accountId, 'full,billing');
    const partial = await homeport.person(accountId, 'partial');
    const target = await homeport.person(accountId, 'partial');
    const withBilling = await homeport.person(accountId, 'partial,billing');
    const may: [Person, Person, string, object][] = [
      [full, target, 'owner', FORBIDDEN],
      [full, target, 'full,billing', FORBIDDEN],
      [full, withBilling, 'partial', FORBIDDEN],
      [full, owner, 'full', FORBIDDEN],
      [full, full, 'owner', FORBIDDEN],
      [full, full, 'full,billing', FORBIDDEN],
      [fullBilling, owner, 'owner', FORBIDDEN],
      [fullBilling, fullBilling, 'owner', FORBIDDEN],
      [partial, partial, 'full', FORBIDDEN],
      [partial, partial, 'partial', FORBIDDEN],
      [partial, target, 'partial', NOT_FOUND],
      [full, target, 'full', { status: 200 }],
      [fullBilling, withBilling, 'full,billing', { status: 200 }],
      [owner, target, 'owner', { status: 200 }],
      [owner, target, 'partial', { status: 200 }],
    ];
    for (const [actor, person, roles, outcome] of may) {
      expect(await change(actor.client, person.userId, { roles }), roles).toMatchObject(outcome);
    }
  });

  it('answers 404 for a user outside the account and 400 for a malformed id', async () => {
    const other = await homeport.ownedAccount();
    for (const id of [other.owner.userId, crypto.randomUUID()]) {
      expect(await change(owner.client, id, { roles: 'full' })).toMatchObject(NOT_FOUND);
    }
    expect(await change(owner.client, other.owner.userId, { roles: 'full' }, other.accountId)).toMatchObject(
      NOT_FOUND,
    );
    expect(await change(owner.client, 'x', { roles: 'full' })).toMatchObject({
      status: 400,
      body: { message: 'Invalid user ID format' },
    });
  });
});

describe('DELETE account_users/{user_id}', () => {
  const remove = (client: Client, user: string, account = accountId) =>
    client.delete(`${users(account)}/${user}`);

  it('removes the membership and keeps those in other accounts', async () => {
    const install = await homeport.install(owner, accountId);
    const member = await homeport.person(accountId, 'partial', [install.id]);
    const answer = await remove(owner.client, member.userId);
    expect(answer.status).toBe(204);
    expect(answer.body).toBeUndefined();
    expect((await member.client.get('/user')).status).toBe(200);
    expect((await member.client.get('/accounts')).body).toMatchObject({ count: 0 });
    expect(await member.client.get(`/installs/${install.id}`)).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, member.userId)).toMatchObject(NOT_FOUND);

    // A new invitation restores none of the former grants.
    const again = await invite(owner.client, { email: member.email, roles: 'partial' });
    expect(again.body).toMatchObject({ account_user: { user_id: member.userId, installs: [] } });
  });

  it('lets full users remove roles up to their own, and partial users none', async () => {
    const full = await homeport.person(accountId, 'full');
    const partial = await homeport.person(accountId, 'partial');
    const withBilling = await homeport.person(accountId, 'partial,billing');
    expect(await remove(full.client, owner.userId)).toMatchObject(FORBIDDEN);
    expect(await remove(full.client, withBilling.userId)).toMatchObject(FORBIDDEN);
    expect(await remove(partial.client, full.userId)).toMatchObject(NOT_FOUND);
    expect(await remove(partial.client, partial.userId)).toMatchObject(FORBIDDEN);
    expect(await remove(full.client, partial.userId)).toMatchObject({ status: 204 });
    expect(await remove(full.client, full.userId)).toMatchObject({ status: 204 });
  });

  it('answers 404 for an unknown user and 400 for a malformed id', async () => {
    const other = await homeport.ownedAccount();
    expect(await remove(owner.client, other.owner.userId, other.accountId)).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, 'x')).toMatchObject({ body: { message: 'Invalid user ID format' } });
    expect(await remove(owner.client, owner.userId, 'x')).toMatchObject({
      body: { message: 'Invalid account ID format' },
    });
  });
});
