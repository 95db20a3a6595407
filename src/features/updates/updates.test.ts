import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { refusal } from '../../../test/refusal.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { HostMachine } from '../../hosting/contract/host.ts';
import type {
  AvailableUpdate,
  UpdateOrder,
  UpdateOutcome,
} from '../../hosting/contract/wordpress-updates.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { environment } from '../hosts/fleet.fixture.ts';

const AKISMET: AvailableUpdate = {
  kind: 'plugin',
  id: 'akismet/akismet.php',
  name: 'Akismet',
  from: '5.4',
  to: '5.5',
};
const core = (from: string, to: string): AvailableUpdate => ({
  kind: 'core',
  id: 'wordpress',
  name: 'WordPress',
  from,
  to,
});

const outcome = (of: Partial<UpdateOutcome>): UpdateOutcome => ({
  made: [],
  skipped: [],
  restored: false,
  rolledBack: null,
  wordpressVersion: '6.1.9',
  ...of,
});

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
let orders: UpdateOrder[];

beforeAll(async () => {
  clock = manualClock(new Date('2026-01-12T10:00:00.000Z'));
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(async () => {
  orders = [];
  plan(async (_install, { core: version, plugins }) => ({
    updates: [
      ...(plugins.length === 0 ? [] : [AKISMET]),
      ...(version === null ? [] : [core('6.1.9', version)]),
    ],
    refused: [],
  }));
  update(async (_install, { updates }) =>
    outcome({
      made: [...updates],
      wordpressVersion: updates.find(({ kind }) => kind === 'core')?.to ?? '6.8.7',
    }),
  );
  await have(install.id, '6.1.9');
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function plan(planUpdates: HostMachine['planUpdates']): void {
  machine.machine.planUpdates = planUpdates;
}

function update(updateWordpress: HostMachine['updateWordpress']): void {
  machine.machine.updateWordpress = (install, order, signal, report) => {
    orders.push(order);
    return updateWordpress(install, order, signal, report);
  };
}

/** Gives an install this version, as if it were older. */
async function have(id: string, version: string): Promise<void> {
  machine.versions.set(id, { phpVersion: '8.4', wordpressVersion: version });
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ wordpress_version: version }).where('id', '=', id).execute(),
  );
}

const request = (body: object, { id } = install) =>
  owner.client.post(`/installs/${id}/wordpress/updates`, body);
const get = async (path: string) => (await owner.client.get(path)).body;
const operation = (location: unknown) => get(String(location).replace('/v1', ''));
const listed = async (id = install.id) => {
  const { results } = Object(await get(`/installs/${id}/wordpress/updates`));
  return results;
};
const checkpoints = async () => {
  const { results } = Object(await get(`/installs/${install.id}/backups?limit=100`));
  return results.filter(({ kind }: { kind: string }) => kind === 'checkpoint').length;
};

/** The restores of the latest update's checkpoint. */
const restores = async () => {
  const { results } = Object(await get(`/operations?install_id=${install.id}&limit=100`));
  const all: { kind: string; result: { backup_id?: string } | null }[] = results;
  const id = orders.at(-1)?.checkpointId;
  return all.filter(({ kind, result }) => kind === 'backup.restore' && result?.backup_id === id);
};

/** The operation of a request, once it has ended. */
async function ended(body: object): Promise<unknown> {
  const answer = await request(body);
  expect(answer.status).toBe(202);
  await homeport.idle();
  return operation(answer.headers.location);
}

describe('an update', () => {
  it('makes a checkpoint first, and results in what was updated', async () => {
    const before = await checkpoints();
    const result = await ended({ core: true, plugins: ['akismet/akismet.php'] });
    expect(result).toMatchObject({
      kind: 'wordpress.update',
      status: 'succeeded',
      error: null,
      result: { version: '6.8.7', plugins: '1', checkpoint_id: expect.any(String) },
    });
    expect(orders).toMatchObject([{ updates: [AKISMET, core('6.1.9', '6.8.7')], pages: [] }]);
    expect(await checkpoints()).toBe(before + 1);
    expect(await get(`/installs/${install.id}`)).toMatchObject({ wp_version: '6.8.7' });
    expect((await listed())[0]).toMatchObject({
      cause: 'request',
      status: 'succeeded',
      updates: [{ id: 'akismet/akismet.php', from: '5.4', to: '5.5' }, { kind: 'core' }],
      checkpoint_id: orders[0]?.checkpointId,
    });
  });

  it('that was rolled back fails, and says why', async () => {
    const rolledBack = { update: AKISMET, reason: 'the home page answers 500, and 200 before' };
    update(async () => outcome({ rolledBack, restored: true }));
    const message =
      'The update of Akismet from 5.4 to 5.5 was rolled back: the home page answers 500, and 200 before.';
    expect(await ended({ plugins: 'all' })).toMatchObject({
      status: 'failed',
      error: { code: 'rolled_back', message },
    });
    expect((await listed())[0]).toMatchObject({
      status: 'rolled_back',
      updates: [],
      rolled_back: { name: 'Akismet' },
      reason: message,
      restored: true,
    });
    expect(await get(`/installs/${install.id}`)).toMatchObject({ wp_version: '6.1.9' });
  });

  it('stays on request if pages only look different', async () => {
    const warning = 'the home page lacks <nav';
    update(async () => outcome({ rolledBack: { update: AKISMET, reason: warning, mayKeep: true } }));
    expect(await ended({ plugins: 'all' })).toMatchObject({
      status: 'failed',
      error: { code: 'pages_differ', message: expect.stringContaining(warning) },
    });
    update(async (_install, { updates }) => outcome({ made: [...updates], warning }));
    expect(await ended({ plugins: 'all', keep: true })).toMatchObject({
      status: 'succeeded',
      result: { warning },
    });
    const skipped = [{ update: AKISMET, reason: 'the download failed' }];
    update(async () => outcome({ skipped, warning }));
    expect(await ended({ plugins: 'all', keep: true })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(`A page looks different: ${warning}.`) },
    });
    expect(orders.map(({ keep }) => keep)).toEqual([undefined, true, true]);
  });

  it('keeps its outcome if the worker dies before the job ends', async () => {
    const { database } = homeport.platform;
    const afterDeath = (of: Partial<UpdateOutcome>) =>
      update(async () => {
        await database.write(({ queries }) =>
          queries
            .updateTable('jobs')
            .set({ worker_id: crypto.randomUUID(), lease_until: '2000-01-01T00:00:00.000Z' })
            .where('kind', '=', 'update_website')
            .where('state', '=', 'running')
            .execute(),
        );
        return outcome(of);
      });
    const reason = 'the home page lacks <nav';
    afterDeath({ rolledBack: { update: AKISMET, reason, mayKeep: true } });
    expect(await ended({ plugins: 'all' })).toMatchObject({
      status: 'failed',
      error: { code: 'pages_differ', message: expect.stringContaining(reason) },
    });
    afterDeath({ skipped: [{ update: AKISMET, reason: 'the download failed' }] });
    expect(await ended({ plugins: 'all' })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('the download failed') },
    });
    expect(orders).toHaveLength(2);
  });

  it('with nothing to do makes no checkpoint', async () => {
    const before = await checkpoints();
    plan(async () => ({ updates: [], refused: [] }));
    expect(await ended({ themes: 'all' })).toMatchObject({ status: 'succeeded', result: {} });
    expect([await checkpoints(), orders]).toEqual([before, []]);
    expect((await listed())[0]).toMatchObject({ status: 'unnecessary' });
  });

  it('of an unknown plugin changes nothing', async () => {
    plan(async () => ({ updates: [AKISMET], refused: ['There is no plugin "nope"'] }));
    expect(await ended({ plugins: ['nope', 'akismet'] })).toMatchObject({
      status: 'failed',
      error: { message: 'Nothing was updated. There is no plugin "nope".' },
    });
    expect(orders).toEqual([]);
  });

  it('that the host cannot undo is undone by a restore', async () => {
    const restored: (string | undefined)[] = [];
    const { restore } = machine.machine;
    machine.machine.restore = (at, id, options) => {
      restored.push(options?.wordpressVersion);
      return restore(at, id, options);
    };
    update((_install, _order, _signal, report) => {
      report?.(0, 2);
      return Promise.reject(new PermanentHostError('the checkpoint is locked'));
    });
    try {
      expect(await ended({ core: true, plugins: 'all' })).toMatchObject({
        status: 'failed',
        error: { message: 'the checkpoint is locked' },
      });
    } finally {
      machine.machine.restore = restore;
    }
    expect(await restores()).toHaveLength(1);
    expect((await listed())[0]).toMatchObject({ status: 'failed', restored: true });
    // The host may have switched already.
    expect(restored).toEqual(['6.1.9']);
  });

  it('that the host never began restores nothing', async () => {
    update(() => Promise.reject(new PermanentHostError('the website has no record')));
    expect(await ended({ plugins: 'all' })).toMatchObject({ status: 'failed' });
    expect(await restores()).toEqual([]);
    expect((await listed())[0]).toMatchObject({ status: 'failed', restored: false });
  });

  it('does not begin with a checkpoint older than an hour', async () => {
    update(() => Promise.reject(new Error('the host is stopping')));
    const answer = await request({ plugins: 'all' });
    await homeport.idle();
    expect(orders).toHaveLength(1);
    clock.advance(HOUR_MS + 1);
    await homeport.idle();
    expect(orders).toHaveLength(1);
    expect(await operation(answer.headers.location)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('could not begin within an hour of its checkpoint') },
    });
    expect(await restores()).toEqual([]);
  });

  it('that could not be made keeps the others, and restores nothing', async () => {
    update(async (_install, { updates }) => {
      const [first, ...others] = updates;
      if (first === undefined) throw new Error('there is nothing to update');
      return outcome({
        made: others,
        skipped: [{ update: first, reason: 'Download failed' }],
        wordpressVersion: '6.8.7',
      });
    });
    const message = 'Akismet was not updated from 5.4 to 5.5: Download failed. 1 update was made.';
    expect(await ended({ core: true, plugins: 'all' })).toMatchObject({
      status: 'failed',
      error: { message },
    });
    expect((await listed())[0]).toMatchObject({
      ...{ status: 'failed', rolled_back: null, restored: false, reason: message },
      updates: [{ kind: 'core' }],
    });
    expect(await get(`/installs/${install.id}`)).toMatchObject({ wp_version: '6.8.7' });
  });

  it('says if an interruption restored the checkpoint first', async () => {
    update(async (_install, { updates }) => outcome({ made: [...updates], restored: true }));
    expect(await ended({ plugins: 'all' })).toMatchObject({
      status: 'succeeded',
      result: { restored: 'true' },
    });
    expect((await listed())[0]).toMatchObject({ status: 'succeeded', restored: true });
  });

  it('cannot be cancelled once an attempt has begun, even while it waits for the next', async () => {
    let calls = 0;
    update(async (_install, { updates }) => {
      calls += 1;
      if (calls === 1) throw new Error('the host was killed');
      return outcome({ made: [...updates] });
    });
    const answer = await request({ plugins: 'all' });
    await homeport.idle();
    const path = String(answer.headers.location).replace('/v1', '');
    expect(await get(path)).toMatchObject({ status: 'queued' });
    expect(await owner.client.delete(path)).toMatchObject({
      status: 409,
      body: { message: 'The operation runs already and can no longer be cancelled' },
    });
    clock.advance(3_600_000);
    await homeport.idle();
    expect(await get(path)).toMatchObject({ status: 'succeeded' });
  });

  it('keeps its checkpoint until it has ended', async () => {
    const deleted: unknown[] = [];
    const remove = async ({ checkpointId }: UpdateOrder) =>
      (await owner.client.delete(`/installs/${install.id}/backups/${checkpointId}`)).status;
    update(async (_install, order) => {
      deleted.push(await remove(order));
      return outcome({ made: [...order.updates] });
    });
    expect(await ended({ plugins: 'all' })).toMatchObject({ status: 'succeeded' });
    for (const order of orders) deleted.push(await remove(order));
    expect(deleted).toEqual([409, 204]);
    await homeport.idle();
  });

  it('continues after the worker was interrupted', async () => {
    let calls = 0;
    update(async (_install, { updates }) => {
      calls += 1;
      if (calls === 1) throw new Error('the host was killed');
      return outcome({ made: [...updates] });
    });
    const answer = await request({ plugins: 'all' });
    await homeport.idle();
    clock.advance(3_600_000);
    await homeport.idle();
    expect(await operation(answer.headers.location)).toMatchObject({ status: 'succeeded' });
    const [first, second] = orders;
    expect(second).toEqual(first);
  });
});

describe('a request', () => {
  it('names what to update', async () => {
    expect((await request({})).body).toMatchObject({
      message: 'Name what to update: core, plugins or themes.',
    });
    for (const wrong of [{ plugins: [] }, { plugins: 'some' }, { core: 'new' }, { themes: [''] }]) {
      expect((await request(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
  });

  it('names a version of the host, and none that is older', async () => {
    await have(install.id, '6.8.7');
    const messages = {
      '7.0': 'The host of this install has no WordPress 7.0; it has 6.8.7, 6.1.9',
      '6.1.9': 'WordPress 6.1.9 is older than the present version 6.8.7',
    };
    for (const [version, message] of Object.entries(messages)) {
      expect((await request({ core: version })).body).toMatchObject({ errors: [{ field: 'core', message }] });
    }
  });

  it('waits for the update before it, up to 20', async () => {
    const release = Promise.withResolvers<void>();
    plan(async () => {
      await release.promise;
      return { updates: [], refused: [] };
    });
    const statuses: number[] = [];
    for (let count = 0; count < 21; count++) statuses.push((await request({ plugins: 'all' })).status);
    expect(statuses).toEqual([...Array(20).fill(202), 429]);
    release.resolve();
    await homeport.idle();
    expect((await listed())[0]).toMatchObject({ status: 'unnecessary' });
  });

  it('for many installs answers with the operation of each', async () => {
    const other = await homeport.install(owner, accountId);
    const path = `/accounts/${accountId}/wordpress/updates`;
    const all = await owner.client.post(path, { plugins: 'all' });
    expect(all).toMatchObject({ status: 202, body: { count: 2, refused: [] } });
    await homeport.idle();
    for (const { id } of [install, other])
      expect((await listed(id))[0]).toMatchObject({ status: 'succeeded' });
    const tagged = await owner.client.post(path, { plugins: 'all', tags: ['no such tag'] });
    expect(tagged).toMatchObject({ status: 202, body: { count: 0, refused: [] } });
    const unknown = crypto.randomUUID();
    const some = await owner.client.post(path, { install_ids: [other.id, unknown], plugins: 'all' });
    expect(some.body).toMatchObject({
      count: 1,
      operations: [{ install_id: other.id, operation_id: expect.any(String) }],
      refused: [{ install_id: unknown }],
    });
    await homeport.idle();
    const stranger = await homeport.person(accountId, 'partial', [other.id]);
    expect((await stranger.client.post(path, { plugins: 'all' })).body).toMatchObject({ count: 1 });
    await homeport.idle();
    await owner.client.delete(`/installs/${other.id}`);
    await homeport.idle();
  });
});

describe('the policy', () => {
  const path = () => `/installs/${install.id}/wordpress/update_policy`;

  it('installs releases of the same branch by default', async () => {
    expect(await get(path())).toEqual({
      core: 'security',
      plugins: 'none',
      themes: 'none',
      maintenance_window: null,
      pages: [],
      defer_wordpress_upgrades_until: null,
    });
  });

  it('can be changed in parts', async () => {
    const window = { days: ['monday'], from_hour: 2, hours: 4, time_zone: 'Europe/Berlin' };
    const changed = { plugins: 'weekly', maintenance_window: window, pages: ['/shop/?a=1'] };
    expect(await owner.client.patch(path(), changed)).toMatchObject({
      status: 200,
      body: { core: 'security', ...changed },
    });
    expect(
      (await owner.client.patch(path(), { maintenance_window: null, plugins: 'none' })).body,
    ).toMatchObject({
      maintenance_window: null,
      pages: ['/shop/?a=1'],
    });
    await ended({ plugins: 'all' });
    expect(orders).toMatchObject([{ pages: ['/shop/?a=1'] }]);
    const wrong = { ...window, time_zone: 'Nowhere' };
    expect((await owner.client.patch(path(), { maintenance_window: wrong })).body).toMatchObject(
      refusal(
        'WordPressUpdatePolicy.maintenance_window.time_zone',
        'invalid_value / unknown',
        expect.any(String),
      ).body ?? {},
    );
    for (const pages of [['//evil.test/'], ['shop'], ['/a b'], Array(7).fill('/x')]) {
      expect((await owner.client.patch(path(), { pages })).status, String(pages)).toBe(400);
    }
    expect(text(await get(path()), 'core')).toBe('security');
  });
});
