import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { createPortalClient, givePassword, PASSWORD } from '../../../test/portal-client.ts';
import { type ManualClock, manualClock } from '../../clock.ts';

let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport.remove());

describe('signing in', () => {
  it('sets a cookie that only the portal itself sends, and that no script reads', async () => {
    const person = await homeport.person();
    await givePassword(homeport, person);
    const browser = createPortalClient(homeport);
    const answer = await browser.signIn(person.email.toUpperCase(), PASSWORD);
    expect(answer).toMatchObject({ status: 200, body: { stage: 'full' } });
    expect((await browser.get('/session')).body).toMatchObject({
      stage: 'full',
      user: { id: person.userId },
    });
    expect((await browser.get('/v1/user')).body).toMatchObject({ id: person.userId });
    expect(await browser.delete('/session')).toMatchObject({ status: 204 });
    expect((await browser.get('/session')).status).toBe(401);
  });
});
