import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { createPortalClient, PASSWORD, signedIn } from '../../../../test/portal-client.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport.remove());

/** An account that requires a second factor, with an invited user. */
async function demandingAccount(invited: Person): Promise<string> {
  const { accountId, owner } = await homeport.ownedAccount();
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('accounts')
      .set({ requires_second_factor: true })
      .where('id', '=', accountId)
      .execute(),
  );
  const user = {
    account_id: accountId,
    first_name: 'A',
    last_name: 'B',
    email: invited.email,
    roles: 'full',
  };
  const answer = await owner.client.post(`/accounts/${accountId}/account_users`, { user });
  expect(answer.status).toBe(201);
  return accountId;
}

describe('an account that requires a second factor', () => {
  it('does not affect the portal of users it has only invited', async () => {
    const { owner: person } = await homeport.ownedAccount();
    const before = await signedIn(homeport, person);
    await demandingAccount(person);
    const after = createPortalClient(homeport);
    expect((await after.signIn(person.email, PASSWORD)).body).toEqual({ stage: 'full' });
    for (const browser of [before, after]) {
      expect((await browser.get('/session')).body).toMatchObject({ stage: 'full' });
      expect((await browser.get('/second_factor')).body).toMatchObject({ required_by: [] });
    }
  });

  it('appears in the API, but not in the portal, before the invitation is accepted', async () => {
    const { owner: person } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, person);
    const { accountId, owner } = await homeport.ownedAccount();
    const site = text(
      (await owner.client.post('/sites', { name: 'Theirs', account_id: accountId })).body,
      'id',
    );
    const install = await homeport.install(owner, accountId, { site_id: site });
    const user = {
      account_id: accountId,
      first_name: 'A',
      last_name: 'B',
      email: person.email,
      roles: 'full',
    };
    expect((await owner.client.post(`/accounts/${accountId}/account_users`, { user })).status).toBe(201);

    const things = [`/accounts/${accountId}`, `/sites/${site}`, `/installs/${install.id}`];
    for (const thing of things) {
      expect((await browser.get(`/v1${thing}`)).status, thing).toBe(404);
      expect((await person.client.get(thing)).status, thing).toBe(200);
    }
    for (const list of ['/accounts', '/sites', '/installs']) {
      expect(JSON.stringify((await browser.get(`/v1${list}`)).body), list).not.toContain(accountId);
      expect(JSON.stringify((await person.client.get(list)).body), list).toContain(accountId);
    }
    expect((await browser.delete(`/v1/installs/${install.id}`)).status).toBe(404);
    expect((await browser.post('/v1/sites', { name: 'Mine', account_id: accountId })).status).toBe(400);
    expect(JSON.stringify((await browser.get('/session')).body)).not.toContain(accountId);

    await homeport.idle();
    const [mail] = mailsTo(homeport, person.email);
    const token = /invitations\/(\S+)/.exec(mail?.text ?? '')?.[1];
    expect((await browser.post(`/invitations/${token}`, {})).status).toBe(204);
    for (const thing of things) expect((await browser.get(`/v1${thing}`)).status, thing).toBe(200);
  });

  it('can be declined, and requires the second factor once accepted', async () => {
    const { owner: person } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, person);
    const left = await demandingAccount(person);
    // Users who have left get no mail.
    await homeport.idle();
    expect((await browser.delete(`/accounts/${left}/membership`)).status).toBe(204);
    expect(JSON.stringify((await person.client.get('/accounts')).body)).not.toContain(left);

    await demandingAccount(person);
    await homeport.idle();
    const links = mailsTo(homeport, person.email).flatMap(
      ({ text }) => /invitations\/(\S+)/.exec(text)?.[1] ?? [],
    );
    const answers = await Promise.all(links.map((token) => browser.post(`/invitations/${token}`, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await browser.get('/session')).body).toMatchObject({ stage: 'enrolment' });
    expect((await browser.get('/second_factor')).body).toMatchObject({ required_by: ['An account'] });
  });
});
