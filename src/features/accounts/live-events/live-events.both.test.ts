import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mostlyOn, onlyOn } from '../../../../test/only-on.ts';
import { type PortalClient, signedIn } from '../../../../test/portal-client.ts';

let homeport: TestHomeport;
let agent: Agent;

beforeAll(async () => {
  homeport = await startTestHomeport();
  agent = new Agent({ connect: { ca: homeport.ca }, bodyTimeout: 0 });
});
afterAll(async () => {
  await agent?.destroy();
  await homeport?.remove();
});

/** Follows live changes as a page does; resolves after the first `resync`. */
async function follow({ cookie }: Pick<PortalClient, 'cookie'>, at = homeport) {
  const { statusCode, headers, body } = await request(`${at.origin}/portal/api/events`, {
    dispatcher: agent,
    headers: cookie === null ? {} : { cookie },
  });
  const events: { event: string; data: unknown }[] = [];
  const reading = (async () => {
    let text = '';
    for await (const chunk of body.setEncoding('utf8')) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
        if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) });
      }
    }
  })();
  let over = false;
  reading.then(
    () => {
      over = true;
    },
    () => {},
  );
  const until = (expected: unknown, timeout = 10_000) =>
    vi.waitFor(() => expect(events).toContainEqual(expected), { timeout, interval: 10 });
  if (statusCode === 200) await until(resync);
  events.length = 0;
  return {
    status: statusCode,
    headers,
    events,
    until,
    isOver: () => over,
    leave: () => body.destroy(),
  };
}

const resync = { event: 'resync', data: {} };
const changed = (topic: string, more: object = {}) => ({
  event: 'change',
  data: expect.objectContaining({ topic, ...more }),
});

async function makeSite(owner: Person, accountId: string, name = 'A site'): Promise<string> {
  const { status, body } = await owner.client.post('/sites', { name, account_id: accountId });
  expect(status).toBe(201);
  return String(field(body, 'id'));
}

/** The ids in the changes of a topic. */
const idsOf = (events: { data: unknown }[], topic: string) =>
  events.filter(({ data }) => field(data, 'topic') === topic).map(({ data }) => field(data, 'id'));

describe('live changes', () => {
  mostlyOn('sqlite', it)('show what others do by the API, in no other account', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const elsewhere = await homeport.ownedAccount();
    const page = await follow(await signedIn(homeport, owner));
    expect(page.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });

    const hidden = await makeSite(elsewhere.owner, elsewhere.accountId);
    const id = await makeSite(owner, accountId);
    await page.until({
      event: 'change',
      data: { topic: 'site', account_id: accountId, install_id: null, id },
    });
    await page.until(changed('activity', { account_id: accountId }));
    expect(JSON.stringify(page.events)).not.toContain(hidden);
    expect(JSON.stringify(page.events)).not.toContain(elsewhere.accountId);
    page.leave();
  });

  mostlyOn('sqlite', it)('show each step of creating an install', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const page = await follow(await signedIn(homeport, owner));
    const install = await homeport.install(owner, accountId);
    const ofInstall = { account_id: accountId, install_id: install.id };
    await page.until(changed('install', { ...ofInstall, id: install.id }));
    await page.until(changed('domain', ofInstall));
    await page.until(changed('operation', ofInstall));
    page.leave();
  });

  it('include changes of another process', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const page = await follow(await signedIn(homeport, owner));
    const second = await startTestHomeport({ place: homeport.place, roles: { api: true, hosting: false } });
    const id = await makeSite({ ...owner, client: second.clientOf(owner.credential) }, accountId);
    await page.until(changed('site', { id }));
    page.leave();
    await second.remove();
  });

  it('follow the grants of partial users as they change', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const [mine, theirs] = [await makeSite(owner, accountId), await makeSite(owner, accountId)];
    const given = await homeport.install(owner, accountId, { site_id: mine, environment: 'production' });
    const other = await homeport.install(owner, accountId, { site_id: theirs, environment: 'production' });
    const partial = await homeport.person(accountId, 'partial', [given.id]);
    const page = await follow(await signedIn(homeport, partial));
    const witness = await follow(await signedIn(homeport, owner));
    const rename = async (siteId: string, name: string) =>
      expect((await owner.client.patch(`/sites/${siteId}`, { name })).status).toBe(200);

    await rename(theirs, 'Renamed');
    await owner.client.post(`/installs/${other.id}/purge_cache`, { type: 'page' });
    await rename(mine, 'Renamed');
    await owner.client.post(`/installs/${given.id}/purge_cache`, { type: 'page' });
    await page.until(changed('site', { id: mine }));
    await page.until(changed('operation', { install_id: given.id }));
    await witness.until(changed('site', { id: theirs }));
    await witness.until(changed('operation', { install_id: other.id }));
    expect(idsOf(page.events, 'site')).not.toContain(theirs);
    expect(JSON.stringify(page.events)).not.toContain(other.id);
    expect(idsOf(page.events, 'activity')).toEqual([]);
    expect(idsOf(witness.events, 'activity')).not.toEqual([]);

    const grant = { install_id: other.id, account_id: accountId, user_id: partial.userId };
    const { database } = homeport.platform;
    await database.write(({ queries }) => queries.insertInto('install_grants').values(grant).execute());
    await page.until(resync);
    await rename(theirs, 'Seen');
    await page.until(changed('site', { id: theirs }));

    page.events.length = 0;
    await database.write(({ queries }) =>
      queries.deleteFrom('install_grants').where('user_id', '=', partial.userId).execute(),
    );
    await page.until(resync);
    witness.events.length = 0;
    await rename(theirs, 'Hidden');
    await rename(mine, 'Hidden');
    await witness.until(changed('site', { id: mine }));
    expect(idsOf(page.events, 'site')).toEqual([]);
    page.leave();
    witness.leave();
  });

  mostlyOn('sqlite', it)('start when a user joins an account and stop when they leave', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const person = await homeport.person();
    const page = await follow(await signedIn(homeport, person));
    const { database } = homeport.platform;
    await database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: accountId,
          user_id: person.userId,
          role: 'full',
          billing: false,
          invite_accepted: true,
          created_at: new Date().toISOString(),
        })
        .execute(),
    );
    await page.until(resync);
    const seen = await makeSite(owner, accountId);
    await page.until(changed('site', { id: seen }));

    page.events.length = 0;
    expect((await owner.client.delete(`/accounts/${accountId}/account_users/${person.userId}`)).status).toBe(
      204,
    );
    await page.until(resync);
    const witness = await follow(await signedIn(homeport, owner));
    const hidden = await makeSite(owner, accountId);
    await witness.until(changed('site', { id: hidden }));
    expect(page.events).toEqual([resync]);
    page.leave();
    witness.leave();
  });

  onlyOn('sqlite', it)('end with the session', async () => {
    const { owner } = await homeport.ownedAccount();
    const client = await signedIn(homeport, owner);
    const page = await follow(client);
    expect((await client.delete('/session')).status).toBe(204);
    await vi.waitFor(() => expect(page.isOver()).toBe(true), { timeout: 20_000 });
    expect((await follow({ cookie: null })).status).toBe(401);
  });

  mostlyOn('sqlite', it)(
    'end when the account starts to require a second factor that the user lacks',
    async () => {
      const { accountId, owner } = await homeport.ownedAccount();
      const page = await follow(await signedIn(homeport, owner));
      await homeport.platform.database.write(({ queries }) =>
        queries
          .updateTable('accounts')
          .set({ requires_second_factor: true })
          .where('id', '=', accountId)
          .execute(),
      );
      await vi.waitFor(() => expect(page.isOver()).toBe(true), { timeout: 20_000 });
    },
  );

  mostlyOn('sqlite', it)('are limited to twenty streams per user, over all sessions', async () => {
    const { owner } = await homeport.ownedAccount();
    const browsers = [await signedIn(homeport, owner), await signedIn(homeport, owner)];
    const pages = await Promise.all(
      browsers.flatMap((browser) => Array.from({ length: 10 }, () => follow(browser))),
    );
    expect(pages.map((page) => page.status)).toEqual(Array.from({ length: 20 }, () => 200));
    const client = await signedIn(homeport, owner);
    const refused = await client.get('/events');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('10');
    pages[0]?.leave();
    await vi.waitFor(async () => {
      const page = await follow(client);
      page.leave();
      expect(page.status).toBe(200);
    }, 20_000);
    for (const page of pages) page.leave();
  });

  mostlyOn('sqlite', it)('do not delay the shutdown of the server', async () => {
    const second = await startTestHomeport({ place: homeport.place, roles: { api: true, hosting: false } });
    const { owner } = await homeport.ownedAccount();
    const page = await follow(await signedIn(second, owner), second);
    // Longer than the test may take.
    await second.stop(300_000);
    await vi.waitFor(() => expect(page.isOver()).toBe(true), 20_000);
  });
});
