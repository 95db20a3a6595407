import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
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
let asked: Parameters<HostMachine['createDatabaseLink']>[];
const TOKEN = `1769851860.${'x'.repeat(43)}`;

beforeAll(async () => {
  clock = manualClock(new Date());
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  asked = [];
  answerWith(async () => ({ token: TOKEN, expiresAt: expiry() }));
  // The limit of the last test is over.
  clock.advance(2 * MINUTE_MS);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

const expiry = () => new Date(clock.now().getTime() + MINUTE_MS).toISOString();

function answerWith(createDatabaseLink: HostMachine['createDatabaseLink']): void {
  machine.machine.createDatabaseLink = (...args) => {
    asked.push(args);
    return createDatabaseLink(...args);
  };
}

const create = ({ client } = owner, { id } = install) =>
  client.call('POST', `/installs/${id}/database/login_links`);

const links = async () =>
  (await activityOf(homeport, accountId)).filter(({ action }) => action === 'install.database_link');

describe('a link to the database', () => {
  it('leads to the website, and is written to the activity without its token', async () => {
    const answer = await create();
    const { port } = new URL(`http://x:${machine.description.ports.http}`);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        url: `http://${install.name}.localhost:${port}/.well-known/homeport-database/?token=${TOKEN}`,
        expires_at: expiry(),
      },
    });
    expect(asked).toEqual([[install]]);
    const written = (await links()).at(-1);
    expect(written).toMatchObject({ install_id: install.id, user_id: owner.userId });
    expect(JSON.stringify(written)).not.toContain(TOKEN);
  });

  it('is not given to a user who loses the permission meanwhile', async () => {
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const before = (await links()).length;
    answerWith(async () => {
      await owner.client.delete(`/accounts/${accountId}/account_users/${partial.userId}`);
      return { token: TOKEN, expiresAt: expiry() };
    });
    expect(await create(partial)).toMatchObject(NOT_FOUND);
    expect(asked).toHaveLength(1);
    expect(await links()).toHaveLength(before);
  });

  it('counts with links to WordPress towards 30 a minute for each user', async () => {
    const person = await homeport.person(accountId, 'full');
    machine.machine.createLogin = async () => ({
      token: 'x'.repeat(43),
      expiresAt: expiry(),
      user: 'admin',
    });
    const signIn = () => person.client.post(`/installs/${install.id}/wordpress/login_links`, {});
    for (let count = 0; count < 29; count++) expect((await create(person)).status).toBe(201);
    expect((await signIn()).status).toBe(201);
    expect((await create(person)).status).toBe(429);
    expect((await signIn()).status).toBe(429);
  });
});

describe('without a database, a request', () => {
  it('gets the reason of the host', async () => {
    const reason = 'This host has no adminer, which shows databases. Ask your hosting company to install it.';
    answerWith(async () => ({ refused: 'missing', reason }));
    expect(await create()).toMatchObject({ status: 409, body: { message: reason } });
  });

  it('gets a 502 if the host fails', async () => {
    answerWith(() => Promise.reject(new Error('the disk is full')));
    expect(await create()).toMatchObject({
      status: 502,
      body: { message: 'The host of the website did not answer. Try again in a minute.' },
    });
  });
});
