import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';

let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
});
afterAll(() => homeport.remove());

describe('GET /user', () => {
  it('shows the user of the credentials, and omits a missing phone number', async () => {
    const { client, userId, email } = await homeport.person();
    const answer = await client.get('/user');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id: userId, first_name: 'Test', last_name: 'Person', email });
  });

  it('shows the phone number, as account users do', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const phone = '+49 30 123456';
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('users').set({ phone }).where('id', '=', owner.userId).execute(),
    );
    expect((await owner.client.get('/user')).body).toEqual({
      id: owner.userId,
      first_name: 'Test',
      last_name: 'Person',
      email: owner.email,
      phone_number: phone,
    });
    const member = await owner.client.get(`/accounts/${accountId}/account_users/${owner.userId}`);
    expect(member.body).toMatchObject({ phone });
  });

  it('is a test of credentials', async () => {
    const { userId, credential } = await homeport.person();
    const refused = (message: string) => ({
      status: 401,
      body: { message },
      headers: { 'www-authenticate': expect.stringMatching(/^Basic /) },
    });
    expect(await homeport.anonymous.get('/user')).toMatchObject(refused('Authentication required'));
    const other = await homeport.person();
    for (const wrong of [
      { ...credential, password: `${credential.password}x` },
      { ...credential, password: '' },
      { ...credential, password: other.credential.password },
      { ...credential, username: crypto.randomUUID() },
      { ...credential, username: credential.username.toUpperCase() },
    ]) {
      expect(await homeport.clientOf(wrong).get('/user')).toMatchObject(refused('Bad Credentials'));
    }
    // Revoking one credential of a user leaves the others.
    const second = await homeport.services.credentials.issue(userId, { name: 'second' });
    await homeport.services.credentials.revoke(credential.username);
    expect(await homeport.clientOf(credential).get('/user')).toMatchObject(refused('Bad Credentials'));
    expect((await homeport.clientOf(second).get('/user')).body).toMatchObject({ id: userId });
    const expired = await homeport.services.credentials.issue(userId, {
      name: 'expired',
      expiresAt: new Date(Date.now() - 1),
    });
    expect(await homeport.clientOf(expired).get('/user')).toMatchObject(refused('Bad Credentials'));
  });
});
