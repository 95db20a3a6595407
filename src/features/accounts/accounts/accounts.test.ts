import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import { operatorFor } from '../../../access/caller.ts';
import { Forbidden, NotFound } from '../../../lib/failures.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  accountId = await homeport.account('Harbour & Söhne');
  owner = await homeport.person(accountId, 'owner');
});
afterAll(() => homeport.remove());

describe('GET /accounts/{account_id}', () => {
  it('shows the account to members of every role', async () => {
    const expected = { id: accountId, name: 'Harbour & Söhne', nickname: 'Harbour & Söhne' };
    for (const roles of ['owner', 'full,billing', 'full', 'partial,billing', 'partial'] as const) {
      const member = await homeport.person(accountId, roles);
      const answer = await member.client.get(`/accounts/${accountId}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(expected);
    }
    expect((await owner.client.get(`/accounts/${accountId.toUpperCase()}`)).body).toEqual(expected);
  });

  it('answers alike for hidden, unknown and malformed ids', async () => {
    const other = await homeport.account();
    for (const id of [other, crypto.randomUUID(), 'nonsense', `${accountId}0`, '%00']) {
      expect(await owner.client.get(`/accounts/${id}`), id).toMatchObject(NOT_FOUND);
    }
  });
});

describe('GET /accounts', () => {
  it('lists the accounts of the caller and no others, oldest first', async () => {
    const accounts = [await homeport.account('b'), await homeport.account('a'), await homeport.account('c')];
    const hidden = await homeport.account('hidden');
    await homeport.person(hidden, 'owner');
    const { client, userId } = await homeport.person(accounts[0], 'partial');
    // Ordered by account, not by membership.
    for (const account of [accounts[2], accounts[1]]) {
      await homeport.platform.database.write(({ queries }) =>
        queries
          .insertInto('memberships')
          .values({
            account_id: account ?? '',
            user_id: userId,
            role: 'full',
            billing: false,
            invite_accepted: true,
            created_at: new Date().toISOString(),
          })
          .execute(),
      );
    }
    const names = ['b', 'a', 'c'];
    const all = accounts.map((id, index) => ({ id, name: names[index], nickname: names[index] }));
    expect((await client.get('/accounts')).body).toEqual({
      previous: null,
      next: null,
      count: 3,
      results: all,
    });
    const address = `${homeport.origin}/v1/accounts`;
    expect((await client.get('/accounts?limit=1&offset=1')).body).toEqual({
      previous: `${address}?limit=1&offset=0`,
      next: `${address}?limit=1&offset=2`,
      count: 3,
      results: all.slice(1, 2),
    });
    expect((await client.get('/accounts?offset=3')).body).toMatchObject({
      count: 3,
      next: null,
      results: [],
    });
    expect((await client.get('/accounts?limit=1000')).body).toMatchObject({ count: 3, results: all });
  });

  it('is empty for a user without accounts', async () => {
    const { client } = await homeport.person();
    const empty = { previous: null, next: null, count: 0, results: [] };
    expect(await client.get('/accounts')).toMatchObject({ status: 200, body: empty });
  });

  it.each([
    ['limit', 'x'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', ''],
    ['offset', 'Infinity'],
    ['offset', '+1'],
    ['offset', '0x1'],
  ])('refuses %s=%s', async (name, value) => {
    expect(await owner.client.get(`/accounts?${name}=${encodeURIComponent(value)}`)).toMatchObject(
      refusal(
        `Pagination.${name}`,
        'invalid_value / invalid_number',
        `${name} must be a whole number, 0 or greater`,
        'Bad request - invalid parameters',
      ),
    );
  });
});

describe('settings of an account', () => {
  const update = (
    id: string,
    { userId }: Person,
    change: { name?: string; requires_second_factor?: boolean },
  ) => homeport.services.accounts.update(operatorFor(userId), id, change);

  async function withSecondFactor({ userId }: Person): Promise<void> {
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('users').set({ mfa_enabled: true }).where('id', '=', userId).execute(),
    );
  }

  it('are its name and the second-factor requirement, which the owner must meet', async () => {
    const id = await homeport.account('Harbour');
    const person = await homeport.person(id, 'owner');
    expect(await update(id, person, { name: ' Pier ' })).toEqual({
      id,
      name: 'Pier',
      nickname: null,
      requires_second_factor: false,
    });
    expect((await person.client.get(`/accounts/${id}`)).body).toEqual({ id, name: 'Pier', nickname: 'Pier' });
    await expect(update(id, person, { name: 'Dock', requires_second_factor: true })).rejects.toThrow(
      'Switch on your own second factor first',
    );
    expect((await person.client.get(`/accounts/${id}`)).body).toEqual({ id, name: 'Pier', nickname: 'Pier' });
    await withSecondFactor(person);
    expect(await update(id, person, { requires_second_factor: true })).toEqual({
      id,
      name: 'Pier',
      nickname: null,
      requires_second_factor: true,
    });
    expect(await update(id, person, {})).toMatchObject({ requires_second_factor: true });
    expect(await update(id, person, { name: 'Dock', requires_second_factor: false })).toEqual({
      id,
      name: 'Dock',
      nickname: null,
      requires_second_factor: false,
    });
  });

  it('can be relaxed by an owner without a second factor', async () => {
    const id = await homeport.account();
    const [one, other] = [await homeport.person(id, 'owner'), await homeport.person(id, 'owner')];
    await withSecondFactor(one);
    await update(id, one, { requires_second_factor: true });
    expect(await update(id, other, { name: 'Renamed' })).toMatchObject({ requires_second_factor: true });
    expect(await update(id, other, { requires_second_factor: false })).toMatchObject({
      requires_second_factor: false,
    });
  });

  it('include a nickname, which is the name until owners choose one', async () => {
    const id = await homeport.account('Harbour Agency Ltd');
    const person = await homeport.person(id, 'owner');
    const portal = await signedIn(homeport, person);
    const path = `/accounts/${id}`;
    expect((await portal.patch(path, { nickname: ' Harbour ' })).body).toMatchObject({ nickname: 'Harbour' });
    for (const answer of [await person.client.get(path), await person.client.get('/accounts')]) {
      expect(JSON.stringify(answer.body)).toContain('"name":"Harbour Agency Ltd","nickname":"Harbour"');
    }
    expect((await portal.patch(path, { nickname: 'a\nb' })).status).toBe(400);
    for (const none of ['', null]) {
      expect((await portal.patch(path, { nickname: none })).body).toMatchObject({ nickname: null });
      expect((await person.client.get(path)).body).toMatchObject({ nickname: 'Harbour Agency Ltd' });
    }
    expect(await homeport.services.accounts.updateByOperator(id, { nickname: 'H' })).toMatchObject({
      nickname: 'H',
    });
    await expect(
      homeport.services.accounts.updateByOperator(crypto.randomUUID(), { nickname: 'H' }),
    ).rejects.toBeInstanceOf(NotFound);
    const changes = (await activityOf(homeport, id)).filter(({ action }) => action === 'account.update');
    expect(changes.map(({ details }) => details)).toEqual([
      { nickname: 'Harbour' },
      { nickname: null },
      { nickname: 'H' },
    ]);
  });

  it('are changed in the portal', async () => {
    const id = await homeport.account('Old');
    const portal = await signedIn(homeport, await homeport.person(id, 'owner'));
    const path = `/accounts/${id}`;
    expect(await portal.patch(path, { name: 'New' })).toMatchObject({
      status: 200,
      body: { id, name: 'New', requires_second_factor: false },
    });
    expect(await portal.patch(path, { requires_second_factor: true })).toMatchObject({
      status: 400,
      body: { message: 'Switch on your own second factor first' },
    });
    expect((await portal.patch(path, { name: ' ' })).status).toBe(400);
    expect(await portal.patch(path, { name: 'New\r\nhttps://evil.example' })).toMatchObject({
      status: 400,
      body: { message: 'The name must be one line of text without control characters' },
    });
    const full = await signedIn(homeport, await homeport.person(id, 'full'));
    expect((await full.patch(path, { name: 'X' })).status).toBe(403);
    expect(await portal.patch(`/accounts/${accountId}`, { name: 'X' })).toMatchObject(NOT_FOUND);
  });

  it('belong to owners alone', async () => {
    const id = await homeport.account('Ours');
    for (const roles of ['full', 'full,billing', 'partial'] as const) {
      await expect(update(id, await homeport.person(id, roles), { name: 'X' })).rejects.toBeInstanceOf(
        Forbidden,
      );
    }
    await expect(update(id, owner, { name: 'X' })).rejects.toBeInstanceOf(NotFound);
    await expect(update(crypto.randomUUID(), owner, { name: 'X' })).rejects.toBeInstanceOf(NotFound);
  });

  it('are logged with the creation of the account, unless nothing changes', async () => {
    const id = await homeport.account('First');
    const person = await homeport.person(id, 'owner');
    await withSecondFactor(person);
    await update(id, person, { name: 'First' });
    await update(id, person, { name: 'Second', requires_second_factor: true });
    await update(id, person, { requires_second_factor: true });
    await update(id, person, { requires_second_factor: false });
    const entries = (await activityOf(homeport, id)).filter(({ action }) => action.startsWith('account.'));
    expect(entries).toMatchObject([
      { action: 'account.create', subject_id: id, subject_name: 'First', means: 'command_line' },
      {
        action: 'account.update',
        subject_name: 'Second',
        details: { from: 'First', to: 'Second', requires_second_factor: true },
      },
      { action: 'account.update', details: { requires_second_factor: false } },
    ]);
  });
});
