import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { createPortalClient, PASSWORD, signedIn } from '../../../../test/portal-client.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport.remove());

describe('PATCH /profile', () => {
  it('changes and trims the given fields, and keeps the rest', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    const changed = await browser.patch('/profile', { first_name: ' Frida ', phone: '+49 30 123456' });
    expect(changed).toMatchObject({
      status: 200,
      body: { first_name: 'Frida', last_name: 'Person', phone: '+49 30 123456', email: owner.email },
    });
    expect((await owner.client.get('/user')).body).toMatchObject({
      first_name: 'Frida',
      phone_number: '+49 30 123456',
    });
    expect((await browser.patch('/profile', { phone: ' ' })).body).toMatchObject({ phone: null });
    const before = (await activityOf(homeport, accountId)).length;
    expect((await browser.patch('/profile', {})).body).toMatchObject({ first_name: 'Frida' });
    const same = { first_name: 'Frida ', last_name: 'Person', phone: null };
    expect(await browser.patch('/profile', same)).toMatchObject({
      status: 200,
      body: { first_name: 'Frida' },
    });
    const written = await activityOf(homeport, accountId);
    expect(written).toHaveLength(before);
    expect(written.at(-1)).toMatchObject({
      action: 'profile.update',
      subject_id: owner.userId,
      means: 'portal',
    });
  });

  it('refuses blank names and ignores an email address', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    for (const wrong of [
      { first_name: ' ' },
      { last_name: '' },
      { phone: '1'.repeat(41) },
      { phone: 'call me maybe' },
      { first_name: 7 },
      { first_name: 'Frida\nFull' },
      { last_name: 'Full\u2029' },
    ]) {
      expect((await browser.patch('/profile', wrong)).status).toBe(400);
    }
    expect((await browser.patch('/profile', { email: 'other@people.example' })).body).toMatchObject({
      email: person.email,
    });
  });
});

describe('a change by the operator', () => {
  const change = (userId: string, what: { email?: string; first_name?: string }) =>
    homeport.services.profile.changeByOperator(userId, what);

  it('changes the email address; links mailed to the old one stop working', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    const link = await homeport.services.passwords.createLink(owner.userId, 'reset');
    const email = `New.${crypto.randomUUID()}@people.example`;
    expect(await change(owner.userId, { email })).toMatchObject({ email, first_name: 'Test' });
    expect((await createPortalClient(homeport).signIn(email.toLowerCase(), PASSWORD)).status).toBe(200);
    expect((await createPortalClient(homeport).signIn(owner.email, PASSWORD)).status).toBe(401);
    expect((await browser.get('/session')).body).toMatchObject({ user: { email } });
    const token = link.slice(link.lastIndexOf('/') + 1);
    expect((await browser.get(`/password_links/${token}`)).status).toBe(404);
    expect(await activityOf(homeport, accountId)).toContainEqual(
      expect.objectContaining({
        action: 'profile.update',
        means: 'command_line',
        user_id: null,
        details: { from: owner.email, to: email },
      }),
    );
  });

  it('refuses an address of another user, in any case', async () => {
    const [one, other] = [await homeport.person(), await homeport.person()];
    await expect(change(one.userId, { email: other.email.toUpperCase() })).rejects.toMatchObject({
      message: `Another user has the address ${other.email.toUpperCase()}`,
    });
    expect(await change(one.userId, { email: one.email.toUpperCase() })).toMatchObject({
      email: one.email.toUpperCase(),
    });
  });
});
