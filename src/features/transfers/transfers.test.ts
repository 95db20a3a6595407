import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../test/activity.ts';
import { field } from '../../../test/client.ts';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { deleteTransfersBefore } from './store.ts';
import { accept, ask, asked, join, newSituation, type Situation } from './transfers.fixture.ts';

let clock: ManualClock;
let homeport: TestHomeport;
let now: Situation;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
beforeEach(async () => {
  now = await newSituation(homeport);
});
afterAll(() => homeport?.remove());

const statusOf = async (id: string, by = now.origin.owner) =>
  (await by.client.get(`/sites/${now.siteId}/site_transfers/${id}`)).body;
const accountOfSite = async () =>
  (
    await homeport.platform.database.reader
      .selectFrom('sites')
      .select('account_id')
      .where('id', '=', now.siteId)
      .executeTakeFirstOrThrow()
  ).account_id;

describe('an owner of both accounts', () => {
  it('transfers a site without an acceptance', async () => {
    const { origin, destination, siteId, install } = now;
    await join(homeport, origin.owner, destination.accountId);
    const answer = await ask(origin.owner, siteId, destination.accountId, { maintenance_mode: true });
    expect(answer).toMatchObject({
      status: 202,
      body: {
        site: siteId,
        site_name: 'Shop',
        installs: [install.id],
        install_names: [install.name],
        origin_account: origin.accountId,
        destination_account: destination.accountId,
        destination_account_name: 'An account',
        status: 'pending',
        awaits_acceptance: false,
        scheduled_time: null,
        reason: null,
      },
    });
    await homeport.idle();
    const site = await origin.owner.client.get(`/sites/${siteId}`);
    expect(site.body).toMatchObject({
      account: { id: destination.accountId },
      installs: [{ id: install.id }],
    });
    const list = await origin.owner.client.get(`/sites/${siteId}/site_transfers`);
    expect(list.body).toMatchObject({ count: 1, results: [{ status: 'completed' }] });
  });

  it('schedules it for later, and can cancel until then', async () => {
    const { origin, destination, siteId } = now;
    await join(homeport, origin.owner, destination.accountId);
    const scheduled_time = timestamp(clock, 3 * DAY_MS);
    const first = await asked(origin.owner, siteId, destination.accountId, { scheduled_time });
    expect(await statusOf(first)).toMatchObject({ status: 'scheduled', scheduled_time });
    const path = `/sites/${siteId}/site_transfers/${first}`;
    expect((await origin.owner.client.delete(path)).status).toBe(204);
    expect(await origin.owner.client.delete(path)).toMatchObject({
      status: 409,
      body: { message: 'The transfer is cancelled and can no longer be cancelled' },
    });
    const second = await asked(origin.owner, siteId, destination.accountId, { scheduled_time });
    await homeport.idle();
    expect(await accountOfSite()).toBe(origin.accountId);
    clock.advance(3 * DAY_MS);
    await homeport.idle();
    expect(await accountOfSite()).toBe(destination.accountId);
    expect(await statusOf(second)).toMatchObject({ status: 'completed' });
  });
});

describe('without ownership of the destination', () => {
  it('waits until an owner there accepts, who is notified by email', async () => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    await homeport.idle();
    expect(await statusOf(id)).toMatchObject({ status: 'pending', awaits_acceptance: true });
    expect(await accountOfSite()).toBe(origin.accountId);
    const [mail] = mailsTo(homeport, destination.owner.email);
    expect(mail?.subject).toBe('An account offers the site Shop to An account');
    expect(mail?.text).toContain(`/accounts/${destination.accountId}/transfers`);
    const incoming = `/accounts/${destination.accountId}/site_transfers`;
    expect((await destination.owner.client.get(incoming)).body).toMatchObject({
      count: 1,
      results: [{ id, origin_account_name: 'An account', awaits_acceptance: true }],
    });
    expect((await accept(destination.owner, destination.accountId, id)).status).toBe(200);
    expect((await accept(destination.owner, destination.accountId, id)).status).toBe(409);
    await homeport.idle();
    expect(await accountOfSite()).toBe(destination.accountId);
    // The origin still sees its transfer, though not the site.
    expect(await statusOf(id)).toMatchObject({
      status: 'completed',
      destination_account_name: 'An account',
    });
    expect((await origin.owner.client.get(`/sites/${siteId}`)).status).toBe(404);
    const actions = async (accountId: string) =>
      (await activityOf(homeport, accountId))
        .map(({ action }) => action)
        .filter((a) => a.startsWith('site_t'));
    const all = ['site_transfer.request', 'site_transfer.accept', 'site_transfer.complete'];
    expect(await actions(origin.accountId)).toEqual(all);
    expect(await actions(destination.accountId)).toEqual(all);
    expect(mailsTo(homeport, origin.owner.email).map(({ subject }) => subject)).toEqual([
      'Shop was transferred',
    ]);
  });

  it('runs at its scheduled time once it is accepted', async () => {
    const { origin, destination, siteId } = now;
    const scheduled_time = timestamp(clock, DAY_MS);
    const id = await asked(origin.owner, siteId, destination.accountId, { scheduled_time });
    expect(await statusOf(id)).toMatchObject({ status: 'pending' });
    const accepted = await accept(destination.owner, destination.accountId, id);
    expect(accepted.body).toMatchObject({ status: 'scheduled', awaits_acceptance: false });
    clock.advance(HOUR_MS);
    await homeport.idle();
    expect(await accountOfSite()).toBe(origin.accountId);
    clock.advance(DAY_MS);
    await homeport.idle();
    expect(await accountOfSite()).toBe(destination.accountId);
  });

  it('is logged on the other side with the name of the person, but not where they were', async () => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    expect((await accept(destination.owner, destination.accountId, id)).status).toBe(200);
    const entries = async ({ owner, accountId }: typeof origin) => {
      const { body } = await owner.client.get(`/accounts/${accountId}/activity?kind=site_transfer`);
      const found = field(body, 'results');
      // The completion, which is Homeport's, may be there already.
      return (Array.isArray(found) ? found : [])
        .slice(-2)
        .map((entry) => [
          field(entry, 'action'),
          field(entry, 'user_id'),
          field(entry, 'address') !== null,
          field(entry, 'credential_name') !== null || field(entry, 'credential_id') !== null,
        ]);
    };
    const request = ['site_transfer.request', origin.owner.userId];
    const acceptance = ['site_transfer.accept', destination.owner.userId];
    expect(await entries(origin)).toEqual([
      [...acceptance, false, false],
      [...request, true, true],
    ]);
    expect(await entries(destination)).toEqual([
      [...acceptance, true, true],
      [...request, false, false],
    ]);
  });

  it('is declined by an owner there', async () => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    const path = `/sites/${siteId}/site_transfers/${id}`;
    expect((await destination.owner.client.delete(path)).status).toBe(204);
    await homeport.idle();
    expect(await statusOf(id)).toMatchObject({ status: 'cancelled' });
    expect(await activityOf(homeport, origin.accountId)).toContainEqual(
      expect.objectContaining({
        action: 'site_transfer.cancel',
        details: { declined: true, destination_account: destination.accountId },
      }),
    );
    expect(mailsTo(homeport, origin.owner.email).map(({ subject }) => subject)).toEqual([
      'The transfer of Shop was declined',
    ]);
    expect((await accept(destination.owner, destination.accountId, id)).status).toBe(409);
  });

  it('is cancelled after 14 days without an answer', async () => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    clock.advance(14 * DAY_MS);
    await homeport.idle();
    expect(await statusOf(id)).toMatchObject({
      status: 'cancelled',
      reason: 'Nobody accepted the transfer in time.',
    });
    expect(await accountOfSite()).toBe(origin.accountId);
    expect(mailsTo(homeport, origin.owner.email).map(({ subject }) => subject)).toEqual([
      'The transfer of Shop was not accepted',
    ]);
  });

  it('answers the same whether or not the destination exists', async () => {
    const { origin, destination, siteId } = now;
    const comparable = (body: unknown, account: string) =>
      JSON.stringify(body)
        .replaceAll(account, 'destination')
        .replace(/^\{"id":"[^"]+"/, '{"id":""');
    const answers = [];
    for (const account of [destination.accountId, crypto.randomUUID()]) {
      const answer = await ask(origin.owner, siteId, account);
      await homeport.idle();
      const seen = await origin.owner.client.get(`/accounts/${origin.accountId}/site_transfers`);
      const [entry] = JSON.parse(JSON.stringify(seen.body)).results.slice(-1);
      const id = JSON.parse(JSON.stringify(answer.body)).id;
      await origin.owner.client.delete(`/sites/${siteId}/site_transfers/${id}`);
      const activity = await activityOf(homeport, origin.accountId);
      answers.push([
        answer.status,
        comparable(answer.body, account),
        comparable(entry, account),
        comparable(activity.at(-2)?.details, account),
      ]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it('is hidden from other accounts', async () => {
    const { origin, destination, siteId } = now;
    const stranger = await homeport.ownedAccount();
    const id = await asked(origin.owner, siteId, destination.accountId);
    expect((await accept(stranger.owner, stranger.accountId, id)).status).toBe(404);
    expect((await accept(origin.owner, destination.accountId, id)).status).toBe(404);
    const path = `/sites/${siteId}/site_transfers`;
    for (const one of [path, `${path}/${id}`]) {
      expect((await stranger.owner.client.get(one)).status).toBe(404);
    }
    expect((await stranger.owner.client.delete(`${path}/${id}`)).status).toBe(404);
    const full = await homeport.person(destination.accountId, 'full');
    expect((await full.client.get(`${path}/${id}`)).status).toBe(200);
    expect((await accept(full, destination.accountId, id)).status).toBe(403);
    expect((await full.client.delete(`${path}/${id}`)).status).toBe(403);
    const partial = await homeport.person(origin.accountId, 'partial', [now.install.id]);
    expect((await partial.client.get(path)).status).toBe(403);
    expect((await partial.client.get(`${path}/${id}`)).status).toBe(403);
  });
});

describe('refusals', () => {
  it.each([
    ['the account itself', () => ({ to: now.origin.accountId }), 'The site is in this account already'],
    [
      'a time in the past',
      () => ({ scheduled_time: timestamp(clock, -1) }),
      'scheduled_time must be in the future and at most 30 days ahead',
    ],
    [
      'a time after 30 days',
      () => ({ scheduled_time: timestamp(clock, 31 * DAY_MS) }),
      'scheduled_time must be in the future and at most 30 days ahead',
    ],
  ])('%s gets 422', async (_, wanted, message) => {
    const more = wanted();
    const to = 'to' in more ? more.to : now.destination.accountId;
    expect(await ask(now.origin.owner, now.siteId, to, more)).toMatchObject({
      status: 422,
      body: { message },
    });
  });

  it('a sandbox stays in its account', async () => {
    const { origin, destination, siteId } = now;
    expect((await origin.owner.client.patch(`/sites/${siteId}`, { sandbox: true })).body).toMatchObject({
      sandbox: true,
      transferable: false,
    });
    expect(await ask(origin.owner, siteId, destination.accountId)).toMatchObject({
      status: 422,
      body: { message: 'Sandbox sites cannot be transferred.' },
    });
  });

  it('a second transfer of a site gets 409, also at the same time', async () => {
    const { origin, destination, siteId } = now;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(origin.owner, siteId, destination.accountId)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    expect(await ask(origin.owner, siteId, destination.accountId)).toMatchObject({
      status: 409,
      body: { message: 'The site already has an open transfer. Cancel it before you request another one' },
    });
  });

  it('an account has at most 20 open transfers', async () => {
    const { origin, destination } = now;
    const caller = { name: 'Another', account_id: origin.accountId };
    for (let count = 0; count <= 20; count += 1) {
      const site = await origin.owner.client.post('/sites', caller);
      const answer = await ask(
        origin.owner,
        String(Reflect.get(Object(site.body), 'id')),
        destination.accountId,
      );
      expect(answer.status).toBe(count < 20 ? 202 : 422);
    }
  });

  it('only owners who have accepted request transfers', async () => {
    const { origin, destination, siteId } = now;
    const full = await homeport.person(origin.accountId, 'full');
    expect((await ask(full, siteId, destination.accountId)).status).toBe(403);
    const invited = await homeport.person();
    await join(homeport, invited, origin.accountId, 'owner', false);
    expect((await ask(invited, siteId, destination.accountId)).status).toBe(403);
    const limited = await homeport.services.credentials.issue(origin.owner.userId, {
      name: 'limited',
      limits: {
        readOnly: false,
        accountId: origin.accountId,
        installs: { by: 'id', values: [now.install.id] },
      },
    });
    const client = homeport.clientOf(limited);
    expect((await ask({ ...origin.owner, client }, siteId, destination.accountId)).status).toBe(403);
  });

  it('a credential for the origin alone needs an acceptance, even of an owner of both accounts', async () => {
    const { origin, destination, siteId } = now;
    await join(homeport, origin.owner, destination.accountId);
    const limited = await homeport.services.credentials.issue(origin.owner.userId, {
      name: 'limited',
      limits: { readOnly: false, accountId: origin.accountId, installs: null },
    });
    const answer = await ask(
      { ...origin.owner, client: homeport.clientOf(limited) },
      siteId,
      destination.accountId,
    );
    expect(answer.body).toMatchObject({ awaits_acceptance: true, destination_account_name: null });
  });
});

describe('what happens before a transfer is carried out', () => {
  it('fails it if the requester or the accepting user is no owner any more', async () => {
    for (const side of ['origin', 'destination'] as const) {
      now = await newSituation(homeport);
      const { origin, destination, siteId } = now;
      const scheduled_time = timestamp(clock, DAY_MS);
      const id = await asked(origin.owner, siteId, destination.accountId, { scheduled_time });
      await accept(destination.owner, destination.accountId, id);
      const { accountId, owner } = now[side];
      const successor = await homeport.person(accountId, 'owner');
      const path = `/accounts/${accountId}/account_users/${owner.userId}`;
      expect((await successor.client.delete(path)).status).toBe(204);
      clock.advance(DAY_MS);
      await homeport.idle();
      const observer = side === 'origin' ? successor : origin.owner;
      expect(await statusOf(id, observer)).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('is no longer an owner'),
      });
      expect(await accountOfSite()).toBe(origin.accountId);
      expect(mailsTo(homeport, observer.email).map(({ subject }) => subject)).toContain(
        'The transfer of Shop failed',
      );
    }
  });

  it('cancels it with the site', async () => {
    const { origin, destination, siteId } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    expect((await origin.owner.client.delete(`/sites/${siteId}`)).status).toBe(204);
    expect(await statusOf(id)).toMatchObject({ status: 'cancelled', reason: 'The site was deleted.' });
    expect((await accept(destination.owner, destination.accountId, id)).status).toBe(409);
    await homeport.idle();
  });

  it('moves the installs that the site has then', async () => {
    const { origin, destination, siteId, install } = now;
    const id = await asked(origin.owner, siteId, destination.accountId);
    const staging = await homeport.install(origin.owner, origin.accountId, {
      site_id: siteId,
      environment: 'staging',
    });
    await origin.owner.client.patch(`/installs/${install.id}`, { site_id: null });
    await accept(destination.owner, destination.accountId, id);
    await homeport.idle();
    expect(await statusOf(id)).toMatchObject({ status: 'completed', installs: [staging.id] });
    expect((await origin.owner.client.get(`/installs/${install.id}`)).status).toBe(200);
    expect((await destination.owner.client.get(`/installs/${staging.id}`)).status).toBe(200);
  });
});

it('expires in the list of a year, and stays readable until then', async () => {
  const { origin, destination, siteId } = now;
  const id = await asked(origin.owner, siteId, destination.accountId);
  await origin.owner.client.delete(`/sites/${siteId}/site_transfers/${id}`);
  const { database } = homeport.platform;
  await database.write(({ queries }) => deleteTransfersBefore(queries, timestamp(clock, -1)));
  expect(await statusOf(id)).toMatchObject({ status: 'cancelled' });
  clock.advance(1_000);
  await database.write(({ queries }) => deleteTransfersBefore(queries, timestamp(clock)));
  expect(await statusOf(id)).toEqual({ message: 'Resource not found' });
});
