import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { createPortalClient, givePassword, PASSWORD, signedIn } from '../../../../test/portal-client.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
});
afterAll(() => homeport.remove());

const NOT_SIGNED_IN = { status: 401, body: { message: 'Authentication required' } };

describe('a request from a page of another site', () => {
  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['the same host, another port', { origin: 'https://localhost:1' }],
    ['no HTTPS', { origin: 'http://localhost' }],
    ['a hidden origin', { origin: 'null' }],
    ['no origin', { origin: null }],
    ['another site, as the browser says', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['a site below the same domain', { headers: { 'sec-fetch-site': 'same-site' } }],
    ['a typed address', { headers: { 'sec-fetch-site': 'none' } }],
  ])('changes nothing with the cookie that the browser sends: %s', async (_, options) => {
    const { accountId, owner } = await homeport.ownedAccount();
    const browser = await signedIn(homeport, owner);
    const json = { name: 'Stolen', account_id: accountId };
    expect(await browser.call('POST', '/v1/sites', { ...options, json })).toMatchObject(NOT_SIGNED_IN);
    expect((await browser.call('PATCH', '/profile', { ...options, json: { first_name: 'X' } })).status).toBe(
      403,
    );
    expect((await browser.call('DELETE', '/session', options)).status).toBe(403);
    expect((await browser.call('DELETE', '/sessions', options)).status).toBe(403);
    expect(field((await owner.client.get('/sites')).body, 'count')).toBe(0);
    expect((await browser.get('/session')).body).toMatchObject({ user: { first_name: 'Test' } });
  });

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['a hidden origin', { origin: 'null' }],
    ['another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['a site below the same domain', { headers: { 'sec-fetch-site': 'same-site' } }],
  ])('reads nothing: %s', async (_, options) => {
    const browser = await signedIn(homeport, await homeport.person());
    expect(await browser.call('GET', '/v1/user', options)).toMatchObject(NOT_SIGNED_IN);
    expect((await browser.call('GET', '/session', options)).status).toBe(403);
  });

  it('cannot sign a user in as another', async () => {
    const person = await homeport.person();
    await givePassword(homeport, person);
    const browser = createPortalClient(homeport);
    const answer = await browser.call('POST', '/session', {
      json: { email: person.email, password: PASSWORD },
      origin: 'https://evil.example',
    });
    expect(answer).toMatchObject({
      status: 403,
      body: { message: `This can be done from the portal itself only, at ${homeport.origin}` },
    });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('reads the API with credentials, but not with a cookie', async () => {
    const person = await homeport.person();
    const browser = await signedIn(homeport, person);
    const answer = await browser.call('GET', '/v1/user');
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const portal = await browser.get('/session');
    expect(Object.keys(portal.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await person.client.get('/user')).headers['access-control-allow-origin']).toBe('*');
  });
});
