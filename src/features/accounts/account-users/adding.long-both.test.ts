import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { FORBIDDEN, refusal } from '../../../../test/refusal.ts';
import { INVALID_ROLE, inviteTo, newAddress, usersOf } from './account-users.fixture.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

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

describe('POST account_users', () => {
  rule('adds a user and answers as GET does', async () => {
    const email = `Frida.${newAddress()}`;
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

  it.each([[undefined], [''], ['  ']])('refuses the missing email address %j', async (email) => {
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
  ])('refuses the email address %j', async (email) => {
    const answer = await invite(owner.client, { email });
    expect(answer).toMatchObject({ status: 400 });
    expect(field(answer.body, 'errors', 0)).toMatchObject({ field: 'email', type: 'invalid_value' });
  });

  rule('reports all errors in field order', async () => {
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

  rule('refuses an account_id that differs from the path', async () => {
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

  rule('finds an existing user by email in any case, and keeps their details', async () => {
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

  it('reveals nothing about an existing user before they accept', async () => {
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

  rule('refuses an existing member in any case, and changes nothing', async () => {
    const member = await homeport.person(accountId, 'partial');
    const email = member.email.toUpperCase();
    expect(await invite(owner.client, { email, roles: 'owner' })).toMatchObject(
      refusal('AccountUser.email', 'value_unavailable / taken', `${email} is a user of this account already`),
    );
    const entry = await owner.client.get(`${users()}/${member.userId}`);
    expect(entry.body).toMatchObject({ roles: 'partial', invite_accepted: true });
  });

  rule('grants partial users only installs of the account', async () => {
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

    const email = newAddress();
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
    // A refused invitation leaves no user, membership or mail.
    const list = await owner.client.get(users());
    expect(JSON.stringify(list.body)).not.toContain(email);
    await homeport.idle();
    expect(mailsTo(homeport, email)).toEqual([]);
  });

  rule('lets full users invite roles up to their own, and partial users none', async () => {
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

  rule('answers with the declared statuses for hidden, unknown and malformed account ids', async () => {
    const { accountId: hidden } = await homeport.ownedAccount();
    for (const id of [hidden, crypto.randomUUID()]) {
      const user = { account_id: id, first_name: 'A', last_name: 'B', email: newAddress(), roles: 'full' };
      expect(await owner.client.post(users(id), { user })).toMatchObject(FORBIDDEN);
    }
    expect(await owner.client.post(users('x'), { user: {} })).toMatchObject({
      status: 400,
      body: { message: 'Invalid account ID format' },
    });
  });
});
