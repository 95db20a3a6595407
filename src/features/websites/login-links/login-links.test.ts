import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { environment } from '../../hosts/fleet.fixture.ts';

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** Requests to the host. */
let asked: Parameters<HostMachine['createLogin']>[];
let created = 0;

beforeAll(async () => {
  clock = manualClock(new Date());
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  asked = [];
  answerWith(async (_install, user) => {
    created += 1;
    const expiresAt = new Date(clock.now().getTime() + MINUTE_MS).toISOString();
    return { token: `t${created}`.padEnd(43, 'x'), expiresAt, user: user ?? 'oldest' };
  });
  // The limit of the last test is over.
  clock.advance(2 * MINUTE_MS);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answerWith(createLogin: HostMachine['createLogin']): void {
  machine.machine.createLogin = (...args) => {
    asked.push(args);
    return createLogin(...args);
  };
}

const create = (body: object | undefined = {}, { client } = owner, { id } = install, headers = {}) =>
  client.call('POST', `/installs/${id}/wordpress/login_links`, { json: body, headers });

const links = async () =>
  (await activityOf(homeport, accountId)).filter(({ action }) => action === 'install.login_link');

describe('a login link', () => {
  it('leads to the website, and is written to the activity without its token', async () => {
    const answer = await create();
    const { port } = new URL(`http://x:${machine.description.ports.http}`);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        url: `http://${install.name}.localhost:${port}/.well-known/homeport-login?token=${`t${created}`.padEnd(43, 'x')}`,
        expires_at: new Date(clock.now().getTime() + MINUTE_MS).toISOString(),
      },
    });
    expect(answer.headers).not.toHaveProperty('location');
    expect(asked).toEqual([[install, null]]);
    const written = (await links()).at(-1);
    expect(written).toMatchObject({
      subject_id: install.id,
      install_id: install.id,
      user_id: owner.userId,
      details: { user: 'oldest' },
    });
    expect(JSON.stringify(written)).not.toContain(`t${created}xx`);
  });

  it('is for the user that the request names', async () => {
    expect((await create({ user: 'ed.itor' })).status).toBe(201);
    expect(asked).toEqual([[install, 'ed.itor']]);
    expect((await links()).at(-1)).toMatchObject({ details: { user: 'ed.itor' } });
    const reason = 'WordPress has no user with the name "nobody".';
    answerWith(async () => ({ refused: 'unknown_user', reason }));
    expect(await create({ user: 'nobody' })).toMatchObject(
      refusal('LoginLink.user', 'invalid_value / unknown', reason),
    );
    for (const user of ['', 'two\nlines', 'x'.repeat(61), 7, null]) {
      expect((await create({ user })).status, String(user)).toBe(400);
    }
  });

  it('is another one with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await create({}, owner, install, headers);
    const second = await create({}, owner, install, headers);
    expect(second.status).toBe(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(text(second.body, 'url')).not.toBe(text(first.body, 'url'));
  });

  it('is not given to a user who loses the permission meanwhile', async () => {
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const before = (await links()).length;
    answerWith(async () => {
      await owner.client.delete(`/accounts/${accountId}/account_users/${partial.userId}`);
      return { token: 'x'.repeat(43), expiresAt: clock.now().toISOString(), user: 'admin' };
    });
    expect(await create({}, partial)).toMatchObject(NOT_FOUND);
    expect(asked).toHaveLength(1);
    expect(await links()).toHaveLength(before);
  });

  it('is limited to 30 a minute for each user', async () => {
    const person = await homeport.person(accountId, 'full');
    for (let count = 0; count < 30; count++) expect((await create({}, person)).status).toBe(201);
    expect(await create({}, person)).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.any(String) },
    });
    expect((await create()).status).toBe(201);
    expect(asked).toHaveLength(31);
  });
});

describe('without WordPress, a request', () => {
  it('gets the reason of the host', async () => {
    const reason = 'This WordPress has no administrator. Name another user.';
    answerWith(async () => ({ refused: 'website', reason }));
    expect(await create()).toMatchObject({ status: 409, body: { message: reason } });
  });

  it('is refused for a pending install', async () => {
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'pending' }).where('id', '=', install.id).execute(),
    );
    expect(await create()).toMatchObject({
      status: 409,
      body: { message: 'The install is still being created. Try again when its status is active.' },
    });
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'active' }).where('id', '=', install.id).execute(),
    );
    expect(asked).toEqual([]);
  });

  it('gets a 502 if the host fails or is down', async () => {
    const failed = {
      status: 502,
      body: { message: 'The host of the website did not answer. Try again in a minute.' },
    };
    answerWith(() => Promise.reject(new Error('the disk is full')));
    expect(await create()).toMatchObject(failed);
    await machine.down();
    expect(await create()).toMatchObject(failed);
    await machine.up();
  });
});
