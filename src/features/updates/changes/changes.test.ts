import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { WordPressReading } from '../../../hosting/contract/wordpress.ts';
import type { ItemOrder } from '../../../hosting/contract/wordpress-changes.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../../hosts/fleet.fixture.ts';
import { storeReading } from '../../websites/wordpress/store.ts';

const CHANGED = { changed: { id: 'akismet/akismet.php', name: 'Akismet', version: '5.4' } };

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
let orders: ItemOrder[];

beforeAll(async () => {
  clock = manualClock(new Date('2026-01-12T10:00:00.000Z'));
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  orders = [];
  clock.advance(3_600_000);
  answer(async () => CHANGED);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answer(changeItem: HostMachine['changeItem']): void {
  machine.machine.changeItem = (ref, order, signal, report) => {
    orders.push(order);
    return changeItem(ref, order, signal, report);
  };
}

const post = (path: string, body: object) =>
  owner.client.post(`/installs/${install.id}/wordpress/${path}`, body);
const get = async (path: string) => (await owner.client.get(path)).body;
const operations = async (kind: string): Promise<{ result: unknown; status: string }[]> =>
  Object(await get(`/operations?install_id=${install.id}&kind=${kind}&limit=100`)).results;

/** The operation of a request, once it has ended. */
async function ended(path: string, body: object, requested = () => {}): Promise<unknown> {
  const { status, headers } = await post(path, body);
  requested();
  expect(status).toBe(202);
  await homeport.idle();
  return get(String(headers.location).replace('/v1', ''));
}

describe('a change of a plugin', () => {
  it('makes a checkpoint first, and results in what was changed', async () => {
    const body = { kind: 'plugin', id: 'akismet', status: 'active' };
    expect(await ended('changes', body)).toMatchObject({
      kind: 'wordpress.change',
      status: 'succeeded',
      result: { ...CHANGED.changed, checkpoint_id: orders[0]?.checkpointId },
    });
    expect(orders).toMatchObject([
      { checkpointId: expect.any(String), change: { id: 'akismet', status: 'active', source: null } },
    ]);
    const { results } = Object(await get(`/accounts/${accountId}/activity?limit=10`));
    expect(results).toContainEqual(
      expect.objectContaining({
        action: 'install.change_wordpress',
        details: { kind: 'plugin', item: 'akismet', status: 'active' },
      }),
    );
  });

  it('stays on request, and results in a warning', async () => {
    const warning = 'the home page answers 503, and 200 before';
    answer(async () => ({ changed: { ...CHANGED.changed, warning } }));
    const body = { kind: 'plugin', id: 'akismet', status: 'active', keep: true };
    expect(await ended('changes', body)).toMatchObject({ status: 'succeeded', result: { warning } });
    expect(orders).toMatchObject([{ change: { keep: true } }]);
  });

  it('of automatic updates alone makes none', async () => {
    const body = { kind: 'plugin', id: 'akismet', auto_update: true };
    expect(await ended('changes', body)).toMatchObject({ status: 'succeeded', result: CHANGED.changed });
    expect(orders).toMatchObject([{ checkpointId: null, change: { autoUpdate: true, status: null } }]);
  });

  it.each([
    [
      { rolledBack: 'the home page answers 500, and 200 before' },
      'rolled_back',
      /rolled back: the home page/,
    ],
    [
      { rolledBack: 'the login form answers 404, and 200 before', mayKeep: true },
      'pages_differ',
      /login form/,
    ],
    [{ refused: 'There is no plugin "akismet"' }, 'change_refused', /^There is no plugin "akismet"\.$/],
  ])('fails without a further restore: %o', async (outcome, code, message) => {
    answer(async () => outcome);
    const before = (await operations('backup.restore')).length;
    expect(await ended('changes', { kind: 'plugin', id: 'akismet', status: 'active' })).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringMatching(message) },
    });
    expect(await operations('backup.restore')).toHaveLength(before);
  });

  it('that the host cannot undo is undone by a restore', async () => {
    answer((_ref, _order, _signal, report) => {
      report?.(0, 1);
      return Promise.reject(new PermanentHostError('the checkpoint is locked'));
    });
    await ended('changes', { kind: 'plugin', id: 'akismet', status: 'deleted' });
    expect((await operations('backup.restore'))[0]).toMatchObject({
      result: { backup_id: orders[0]?.checkpointId },
    });
  });

  it('is undone before the changes that wait behind it', async () => {
    const { promise: isWaiting, resolve: letFail } = Promise.withResolvers<void>();
    let restored: unknown;
    answer(async (_ref, { change }, _signal, report) => {
      if (change.id === 'akismet') {
        report?.(0, 1);
        await isWaiting;
        throw new PermanentHostError('the checkpoint is locked');
      }
      restored = (await operations('backup.restore')).at(-1);
      return CHANGED;
    });
    const first = await post('changes', { kind: 'plugin', id: 'akismet', status: 'deleted' });
    expect(await ended('changes', { kind: 'plugin', id: 'hello', status: 'active' }, letFail)).toMatchObject({
      status: 'succeeded',
    });
    expect(await get(String(first.headers.location).replace('/v1', ''))).toMatchObject({ status: 'failed' });
    expect(restored).toMatchObject({ status: 'succeeded', result: { backup_id: orders[0]?.checkpointId } });
  });

  it('that the host did not begin restores nothing', async () => {
    answer(() => Promise.reject(new PermanentHostError('the journal cannot be written')));
    const before = (await operations('backup.restore')).length;
    expect(await ended('changes', { kind: 'plugin', id: 'akismet', status: 'deleted' })).toMatchObject({
      status: 'failed',
      result: null,
    });
    expect(await operations('backup.restore')).toHaveLength(before);
  });

  it.each([
    [false, 1],
    [true, 2],
  ])('goes on with a checkpoint older than an hour only if it has begun: %s', async (isBegun, calls) => {
    answer((_ref, _order, _signal, report) => {
      if (isBegun) report?.(0, 1);
      return Promise.reject(new Error('the host is stopping'));
    });
    const { headers } = await post('changes', { kind: 'plugin', id: 'akismet', status: 'active' });
    await homeport.idle();
    answer(async () => ({ rolledBack: 'the host was interrupted' }));
    clock.advance(3_600_001);
    await homeport.idle();
    expect(orders).toHaveLength(calls);
    expect(await get(String(headers.location).replace('/v1', ''))).toMatchObject({
      status: 'failed',
      error: { code: isBegun ? 'rolled_back' : 'failed' },
    });
  });
});

describe('an installation', () => {
  it('stores the URL of a package encrypted, and shows its host only', async () => {
    const url = 'https://packages.test/shop.zip?signature=secret';
    await ended('installations', { kind: 'plugin', url, activate: true });
    expect(orders).toMatchObject([{ change: { id: null, source: { url }, status: 'active' } }]);
    const { reader } = homeport.platform.database;
    const stored = JSON.stringify([
      await reader.selectFrom('jobs').select('payload').execute(),
      await get(`/accounts/${accountId}/activity?limit=10`),
    ]);
    expect([stored.includes('packages.test'), stored.includes('signature=')]).toEqual([true, false]);
  });

  it.each([
    [{ kind: 'plugin' }, 'Name exactly one of slug, path and url.'],
    [{ kind: 'plugin', slug: 'a', path: 'private/a.zip' }, 'Name exactly one of slug, path and url.'],
    [{ kind: 'plugin', path: 'private/../a.zip' }, 'private/'],
    [{ kind: 'theme', url: 'https://[' }, 'https://'],
  ])('needs one source: %o', async (body, message) => {
    const refused = await post('installations', body);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(message);
  });
});

describe('what the last reading excludes', () => {
  const plugin = { version: '1.0', update: null, autoUpdate: false };
  const theme = { ...plugin, parent: null, bundled: false };
  const reading: WordPressReading = {
    core: { version: '6.8.7', update: null },
    plugins: [
      { ...plugin, file: 'akismet/akismet.php', name: 'Akismet', status: 'active' },
      { ...plugin, file: 'homeport.php', name: 'Homeport', status: 'must_use' },
      { ...plugin, file: 'object-cache.php', name: 'Cache', status: 'dropin' },
    ],
    themes: [
      { ...theme, stylesheet: 'shop', name: 'Shop', status: 'active', parent: 'base' },
      { ...theme, stylesheet: 'base', name: 'Base', status: 'parent' },
      { ...theme, stylesheet: 'twenty', name: 'Twenty', status: 'inactive', bundled: true },
    ],
    administrators: [],
    siteHealth: null,
    multisite: false,
    isComplete: true,
    updateCheck: null,
    mark: 'a'.repeat(32),
  };
  const store = (value: WordPressReading) =>
    homeport.platform.database.write((transaction) =>
      storeReading(transaction, install.id, value, clock.now().toISOString()),
    );

  it.each([
    [{ kind: 'plugin', id: 'homeport', status: 'inactive' }, 'must-use'],
    [{ kind: 'plugin', id: 'object-cache.php', status: 'deleted' }, 'drop-in'],
    [{ kind: 'theme', id: 'twenty', status: 'deleted' }, 'comes with WordPress'],
    [{ kind: 'theme', id: 'twenty', auto_update: true }, 'updated with it'],
  ])('is refused before a checkpoint is made: %o', async (body, message) => {
    await store(reading);
    const refused = await post('changes', body);
    expect(refused.status).toBe(409);
    expect(JSON.stringify(refused.body)).toContain(message);
  });

  it.each([
    { kind: 'plugin', id: 'akismet', status: 'deleted' },
    { kind: 'theme', id: 'base', status: 'deleted' },
  ])('but what is active is left to the host: %o', async (body) => {
    await store(reading);
    expect(await ended('changes', body)).toMatchObject({ status: 'succeeded' });
    expect(orders).toHaveLength(1);
  });

  it('a network of sites is refused', async () => {
    await store({ ...reading, multisite: true });
    expect(await post('installations', { kind: 'plugin', slug: 'akismet' })).toMatchObject({ status: 409 });
    await store(reading);
  });

  it.each([
    [{ kind: 'plugin', id: 'akismet' }, 'Name what to change'],
    [{ kind: 'theme', id: 'shop', status: 'inactive' }, 'activating another one'],
    [{ kind: 'theme', id: 'shop', auto_update: true, keep: true }, 'only after a change of the status'],
    [{ kind: 'plugin', id: 'akismet', status: 'deleted', auto_update: true }, 'no updates'],
  ])('and a request must make sense: %o', async (body, message) => {
    const refused = await post('changes', body);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(message);
  });

  it.each(['../uploads', '.', '..', 'shop/', 'shop\\x'])('a theme is no path: %s', async (id) => {
    const refused = await post('changes', { kind: 'theme', id, status: 'deleted' });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('the name of its folder');
  });
});
