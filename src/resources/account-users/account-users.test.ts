import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { type Client, field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { signedIn } from '../../../test/portal-client.ts';
import { FORBIDDEN, NOT_FOUND, refusal } from '../../../test/refusal.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const users = (account = accountId) => `/accounts/${account}/account_users`;
const address = () => `${crypto.randomUUID()}@people.example`;

/** The answer to an invitation to `accountId`, with everything that it needs; `more` changes it. */
const invite = (client: Client, more: object = {}, account_id = accountId) =>
  client.post(users(account_id), {
    user: {
      account_id,
      first_name: 'Frida',
      last_name: 'Full',
      email: address(),
      roles: 'full',
      ...more,
    },
  });

const INVALID_ROLE = refusal(
  'AccountUser.roles',
  'invalid_value / invalid_role',
  'Role must be one of: owner, full, full,billing, partial, partial,billing',
  'Invalid role specified',
);
const LAST_OWNER = refusal(
  'AccountUser.roles',
  'invalid_value / last_owner',
  'The last owner of an account can be neither removed nor changed; make somebody else an owner first, and wait until they have accepted',
);

describe('POST account_users', () => {
  it('adds a person and answers with them, as GET shows them', async () => {
    const email = `Frida.${address()}`;
    const answer = await invite(owner.client, { email, first_name: ' Frida ', last_name: 'Ölund' });
    expect(answer.status).toBe(201);
    const added = field(answer.body, 'account_user');
    expect(answer.body).toEqual({
      message: 'Your change was successful.',
      account_user: {
        user_id: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ),
        account_id: accountId,
        first_name: 'Frida',
        last_name: 'Ölund',
        email,
        phone: null,
        invite_accepted: false,
        mfa_enabled: false,
        roles: 'full',
      },
    });
    expect((await owner.client.get(`${users()}/${text(added, 'user_id')}`)).body).toEqual(added);
    await homeport.idle();
    expect(mailsTo(homeport, email)).toHaveLength(1);
  });

  it.each([
    ['owner', 'owner', { last_owner: false }],
    ['full,billing', 'billing, full', {}],
    ['full', 'full', {}],
    ['partial,billing', 'billing, partial', { installs: [] }],
    ['partial', 'partial', { installs: [] }],
  ])('reads the role %s back as "%s"', async (roles, shown, more) => {
    const answer = await invite(owner.client, { roles });
    expect(field(answer.body, 'account_user')).toMatchObject({ roles: shown, ...more });
    for (const name of ['last_owner', 'installs']) {
      const has = field(answer.body, 'account_user', name) !== undefined;
      expect(has, name).toBe(name in more);
    }
  });

  it.each([
    ['admin'],
    ['billing'],
    ['Owner'],
    ['billing,full'],
    ['full, billing'],
    ['owner,billing'],
    [''],
    [7],
  ])('refuses the role %j', async (roles) => {
    expect(await invite(owner.client, { roles })).toMatchObject(INVALID_ROLE);
  });

  it.each([[undefined], [''], ['  ']])('refuses the missing e-mail address %j', async (email) => {
    expect(await invite(owner.client, { email })).toMatchObject(
      refusal(
        'AccountUser.email',
        'missing_field / required',
        'Email address is required',
        'User email is required',
      ),
    );
  });

  it.each([
    ['frida'],
    ['frida@'],
    ['a b@x.example'],
    ['a@x.example\r\nBcc: b@x.example'],
    ['"a\r\nBcc: b"@x.example'],
    ['"the operator"@x.example'],
    ['a@[127.0.0.1]'],
    ['a\u202e@x.example'],
    [`${'x'.repeat(65)}@x.example`],
    [`x@${'y.'.repeat(124)}example`],
  ])('refuses the e-mail address %j', async (email) => {
    const answer = await invite(owner.client, { email });
    expect(answer).toMatchObject({ status: 400 });
    expect(field(answer.body, 'errors', 0)).toMatchObject({ field: 'email', type: 'invalid_value' });
  });

  it('collects all faults, in the order of the fields', async () => {
    for (const body of [{}, { user: {} }, undefined]) {
      const answer = await owner.client.post(users(), body);
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'message')).toBe('User email is required');
      expect(field(answer.body, 'errors')).toMatchObject(
        ['account_id', 'first_name', 'last_name', 'email', 'roles'].map((name) => ({
          resource: 'AccountUser',
          field: name,
          type: 'missing_field',
          code: 'required',
        })),
      );
    }
    const answer = await invite(owner.client, { first_name: ' ', roles: 'king', install_ids: ['x'] });
    expect(field(answer.body, 'message')).toBe('Invalid role specified');
    expect(field(answer.body, 'errors')).toMatchObject([
      { field: 'first_name', type: 'missing_field', code: 'required' },
      { field: 'roles', type: 'invalid_value', code: 'invalid_role' },
      { field: 'install_ids.0', type: 'invalid_value', code: 'invalid_format' },
    ]);
  });

  it('refuses an account_id other than that of the path', async () => {
    const { accountId: other } = await homeport.ownedAccount();
    const answer = await invite(owner.client, { account_id: other });
    expect(answer).toMatchObject(
      refusal(
        'AccountUser.account_id',
        'invalid_value / mismatch',
        'account_id must be the account of the path',
      ),
    );
    expect((await invite(owner.client, { account_id: accountId.toUpperCase() })).status).toBe(201);
  });

  it('finds a known person by e-mail in any case, and overwrites none of their details', async () => {
    const known = await homeport.person();
    const answer = await invite(owner.client, {
      email: known.email.toUpperCase(),
      first_name: 'Somebody',
      last_name: 'Else',
      roles: 'partial',
    });
    expect(answer.status).toBe(201);
    expect(field(answer.body, 'account_user')).toMatchObject({
      user_id: known.userId,
      email: known.email,
      first_name: 'Somebody',
      last_name: 'Else',
      phone: null,
      mfa_enabled: false,
      invite_accepted: false,
    });
    expect((await known.client.get('/user')).body).toMatchObject({ email: known.email, first_name: 'Test' });
  });

  it('tells nothing of a known person before they accept, whoever asks and however', async () => {
    const known = await homeport.person();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('users')
        .set({ phone: '+49 30 123456', mfa_enabled: true })
        .where('id', '=', known.userId)
        .execute(),
    );
    const email = known.email;
    const invited = await invite(owner.client, { email, first_name: ' Who ', last_name: 'Knows' });
    const shown = { first_name: 'Who', last_name: 'Knows', phone: null, mfa_enabled: false };
    const path = `${users()}/${known.userId}`;
    expect(field(invited.body, 'account_user')).toMatchObject(shown);
    expect((await owner.client.get(path)).body).toMatchObject(shown);
    const changed = await owner.client.patch(path, { roles: 'full,billing' });
    expect(field(changed.body, 'account_user')).toMatchObject(shown);
    const listed = async () => {
      const results = field((await owner.client.get(users())).body, 'results');
      return Array.isArray(results)
        ? results.find((entry) => field(entry, 'user_id') === known.userId)
        : null;
    };
    expect(await listed()).toMatchObject(shown);

    await homeport.idle();
    const token = /invitations\/(\S+)/.exec(mailsTo(homeport, email)[0]?.text ?? '')?.[1];
    expect((await (await signedIn(homeport, known)).post(`/invitations/${token}`, {})).status).toBe(204);
    expect(await listed()).toMatchObject({
      first_name: 'Test',
      last_name: 'Person',
      phone: '+49 30 123456',
      mfa_enabled: true,
    });
  });

  it.each(['Frida\r\nhttps://evil.example', 'Frida\u2028', 'Fri\tda', '\u009bFrida'])(
    'refuses the name %j, which is more than one line of text',
    async (first_name) => {
      expect(await invite(owner.client, { first_name })).toMatchObject(
        refusal(
          'AccountUser.first_name',
          'invalid_value / invalid_format',
          'The first name must be one line of text without control characters',
        ),
      );
    },
  );

  it('refuses who is a user already, in whatever case, and changes nothing', async () => {
    const member = await homeport.person(accountId, 'partial');
    const email = member.email.toUpperCase();
    expect(await invite(owner.client, { email, roles: 'owner' })).toMatchObject(
      refusal('AccountUser.email', 'value_unavailable / taken', `${email} is a user of this account already`),
    );
    const entry = await owner.client.get(`${users()}/${member.userId}`);
    expect(entry.body).toMatchObject({ roles: 'partial', invite_accepted: true });
  });

  it('gives partial users installs of the account, and no others', async () => {
    const one = await homeport.install(owner, accountId);
    const two = await homeport.install(owner, accountId);
    const other = await homeport.ownedAccount();
    const foreign = await homeport.install(other.owner, other.accountId);

    const answer = await invite(owner.client, {
      roles: 'partial,billing',
      install_ids: [two.id, one.id.toUpperCase(), two.id],
    });
    expect(answer.status).toBe(201);
    expect(field(answer.body, 'account_user', 'installs')).toEqual([one, two]);

    const email = address();
    for (const id of [foreign.id, crypto.randomUUID()]) {
      expect(
        await invite(owner.client, { email, roles: 'partial', install_ids: [one.id, id] }),
      ).toMatchObject(
        refusal(
          'AccountUser.install_ids',
          'access_error / not_permitted',
          'An install of install_ids is not in this account',
        ),
      );
    }
    // Nothing of what was refused stays: neither the person, nor the membership, nor the mail.
    const list = await owner.client.get(users());
    expect(JSON.stringify(list.body)).not.toContain(email);
    await homeport.idle();
    expect(mailsTo(homeport, email)).toEqual([]);
  });

  it('lets a full user invite up to their own role, and a partial user nobody', async () => {
    const full = await homeport.person(accountId, 'full');
    const fullBilling = await homeport.person(accountId, 'full,billing');
    const partial = await homeport.person(accountId, 'partial,billing');
    const stranger = (await homeport.ownedAccount()).owner;
    const may: [Person, string, boolean][] = [
      [full, 'owner', false],
      [full, 'full,billing', false],
      [full, 'partial,billing', false],
      [full, 'full', true],
      [full, 'partial', true],
      [fullBilling, 'owner', false],
      [fullBilling, 'full,billing', true],
      [fullBilling, 'partial,billing', true],
      [partial, 'partial', false],
      [stranger, 'partial', false],
    ];
    for (const [person, roles, allowed] of may) {
      const answer = await invite(person.client, { roles });
      if (allowed) expect(answer.status, roles).toBe(201);
      else expect(answer, roles).toMatchObject(FORBIDDEN);
    }
  });

  it('answers with the statuses of its row for accounts that are hidden, absent or no id', async () => {
    const { accountId: hidden } = await homeport.ownedAccount();
    for (const id of [hidden, crypto.randomUUID()]) {
      const user = { account_id: id, first_name: 'A', last_name: 'B', email: address(), roles: 'full' };
      expect(await owner.client.post(users(id), { user })).toMatchObject(FORBIDDEN);
    }
    expect(await owner.client.post(users('x'), { user: {} })).toMatchObject({
      status: 400,
      body: { message: 'Invalid account ID format' },
    });
  });
});

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

    // One entry each: their own, somebody else's, nobody's.
    const get = (id: string) => partial.client.get(`${users(own.accountId)}/${id}`);
    expect((await get(partial.userId)).body).toEqual(partialEntry);
    for (const id of [full.userId, owner.userId, crypto.randomUUID(), 'x']) {
      expect(await get(id)).toMatchObject(NOT_FOUND);
    }
    expect((await full.client.get(`${users(own.accountId)}/${partial.userId}`)).body).toEqual(partialEntry);
  });

  it('tells nothing of accounts that the caller is not in', async () => {
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

  it('changes roles, and what is given follows', async () => {
    const install = await homeport.install(owner, accountId);
    const member = await homeport.person(accountId, 'partial', [install.id]);
    const account_user = (more: object) => ({
      status: 200,
      body: { message: 'Your change was successful.', account_user: { user_id: member.userId, ...more } },
    });

    // Installs that are not named stay as they are.
    expect(await change(owner.client, member.userId, { roles: 'partial,billing' })).toMatchObject(
      account_user({ roles: 'billing, partial', installs: [install] }),
    );
    expect(await change(owner.client, member.userId, { roles: 'partial', install_ids: [] })).toMatchObject(
      account_user({ roles: 'partial', installs: [] }),
    );
    expect((await member.client.get('/installs')).body).toMatchObject({ count: 0 });
    await change(owner.client, member.userId, { roles: 'partial', install_ids: [install.id] });
    expect((await member.client.get('/installs')).body).toMatchObject({ count: 1, results: [install] });

    // Who becomes full sees everything, and keeps nothing of what was given when they are partial again.
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
      'who sees everything is given nothing',
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

  it('neither changes nor removes the last owner; two owners may', async () => {
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

  it('lets nobody give or touch a role above their own, and billing only who has it', async () => {
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

  it('answers 404 for who is not a user of the account, 400 for what is no id', async () => {
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

  it('removes the membership, and the person stays in their other accounts', async () => {
    const install = await homeport.install(owner, accountId);
    const member = await homeport.person(accountId, 'partial', [install.id]);
    const answer = await remove(owner.client, member.userId);
    expect(answer.status).toBe(204);
    expect(answer.body).toBeUndefined();
    expect((await member.client.get('/user')).status).toBe(200);
    expect((await member.client.get('/accounts')).body).toMatchObject({ count: 0 });
    expect(await member.client.get(`/installs/${install.id}`)).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, member.userId)).toMatchObject(NOT_FOUND);

    // Invited anew they get none of what was given to them before.
    const again = await invite(owner.client, { email: member.email, roles: 'partial' });
    expect(again.body).toMatchObject({ account_user: { user_id: member.userId, installs: [] } });
  });

  it('lets full users remove up to their own role, and partial users nobody', async () => {
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

  it('answers 404 for who is not there, 400 for what is no id', async () => {
    const other = await homeport.ownedAccount();
    expect(await remove(owner.client, other.owner.userId, other.accountId)).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect(await remove(owner.client, 'x')).toMatchObject({ body: { message: 'Invalid user ID format' } });
    expect(await remove(owner.client, owner.userId, 'x')).toMatchObject({
      body: { message: 'Invalid account ID format' },
    });
  });
});

describe('DELETE /portal/api/accounts/{account_id}/membership', () => {
  const leave = async (person: Person, account: string) =>
    (await signedIn(homeport, person)).delete(`/accounts/${account}/membership`);

  it.each(['owner', 'full', 'partial'] as const)('lets somebody leave whose role is: %s', async (roles) => {
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

  it('is not for the last owner, nor for who is not in the account', async () => {
    const own = await homeport.ownedAccount();
    expect(await leave(own.owner, own.accountId)).toMatchObject(LAST_OWNER);
    expect(await leave(owner, own.accountId)).toMatchObject(NOT_FOUND);
    expect(await leave(owner, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect((await own.owner.client.get('/accounts')).body).toMatchObject({ count: 1 });
  });

  it('is not for the only owner who has accepted; the other may be taken back', async () => {
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

describe('at the same time', () => {
  it('adds the same new person once', async () => {
    const email = address();
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

  it('adds the same new person to several accounts as one person', async () => {
    const email = address();
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

  it.each(['PATCH', 'DELETE'])('leaves one owner when two owners %s each other', async (method) => {
    for (let round = 0; round < 3; round++) {
      const { accountId: account, owner: first } = await homeport.ownedAccount();
      const second = await homeport.person(account, 'owner');
      const demote = (actor: Person, person: Person) =>
        actor.client.call(method, `${users(account)}/${person.userId}`, {
          ...(method === 'PATCH' ? { json: { roles: 'full' } } : {}),
        });
      const answers = await Promise.all([demote(first, second), demote(second, first)]);
      // Who was demoted first may no longer do it in return, or no longer sees the account.
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

  it('leaves one owner when both step down', async () => {
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
