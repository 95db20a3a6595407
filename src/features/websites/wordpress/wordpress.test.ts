import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { WordPressMark, WordPressReading } from '../../../hosting/contract/wordpress.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { environment } from '../../hosts/fleet.fixture.ts';
import { watchWordPress } from './jobs.ts';

const MARK = 'a'.repeat(32);
const OTHER_MARK = 'b'.repeat(32);

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** Readings that the host was asked for. */
let asked: Parameters<HostMachine['readWordPress']>[];
let marks: WordPressMark[];

const READING: WordPressReading = {
  core: { version: '6.8', update: { version: '6.9' } },
  plugins: [
    {
      file: 'akismet/akismet.php',
      name: 'Akismet',
      version: '5.3',
      status: 'active',
      update: { version: '5.4' },
      autoUpdate: true,
    },
    { file: 'hello.php', name: 'Hello', version: null, status: 'inactive', update: null, autoUpdate: false },
  ],
  themes: [
    {
      stylesheet: 'shop',
      name: 'Shop',
      version: '1',
      status: 'active',
      parent: 'base',
      bundled: false,
      update: null,
      autoUpdate: false,
    },
  ],
  administrators: [
    { login: 'admin', email: 'me@shop.test', displayName: 'Me', registeredAt: '2026-01-31T09:30:00.000Z' },
  ],
  siteHealth: {
    good: 14,
    recommended: 2,
    critical: 0,
    issues: [{ label: 'Remove inactive plugins', severity: 'recommended' }],
  },
  multisite: false,
  isComplete: true,
  updateCheck: { core: null, plugins: null, themes: null },
  mark: MARK,
};

beforeAll(async () => {
  clock = manualClock(new Date('2026-05-10T12:00:00Z'));
  machine = await serveMachine();
  machine.machine.wordpressMarks = async (after) => (after === null ? marks : []);
  answerWith(async () => READING);
  asked = [];
  marks = [];
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  asked = [];
  answerWith(async () => READING);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answerWith(readWordPress: HostMachine['readWordPress']): void {
  machine.machine.readWordPress = (...args) => {
    asked.push(args);
    return readWordPress(...args);
  };
}

async function watch(): Promise<void> {
  const { database, queue } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, watchWordPress, { payload: {}, lane: null }),
  );
  await homeport.idle();
}

const wordpress = async ({ client } = owner, { id } = install) => client.get(`/installs/${id}/wordpress`);
const refresh = ({ client } = owner, { id } = install) => client.post(`/installs/${id}/wordpress/refresh`);
const summaries = async (query = '', { client } = owner) =>
  (await client.get(`/accounts/${accountId}/wordpress${query}`)).body;
const checks = () => asked.map(([{ id }, { check }]) => [id, check]);

describe('the WordPress of an install', () => {
  it('is unknown before its host has read it', async () => {
    expect(await wordpress()).toMatchObject({
      status: 200,
      body: {
        core: { version: '6.8.7', available_update: null },
        plugins: null,
        themes: null,
        administrators: null,
        is_complete: false,
        site_health: { status: 'unknown', examined_at: null },
        read_at: null,
        updates_checked_at: null,
        error: null,
      },
    });
  });

  it('is read soon after the install was created', async () => {
    clock.advance(MINUTE_MS);
    await homeport.idle();
    expect(checks()).toEqual([[install.id, false]]);
    const now = clock.now().toISOString();
    expect((await wordpress()).body).toEqual({
      core: { version: '6.8', available_update: { version: '6.9' } },
      plugins: [
        {
          file: 'akismet/akismet.php',
          slug: 'akismet',
          name: 'Akismet',
          version: '5.3',
          status: 'active',
          update: { version: '5.4' },
          auto_update: true,
        },
        expect.objectContaining({ file: 'hello.php', slug: 'hello', version: null, update: null }),
      ],
      themes: [expect.objectContaining({ stylesheet: 'shop', parent: 'base', bundled: false })],
      administrators: [
        {
          login: 'admin',
          email: 'me@shop.test',
          display_name: 'Me',
          registered_at: '2026-01-31T09:30:00.000Z',
        },
      ],
      site_health: {
        status: 'good',
        good: 14,
        recommended: 2,
        critical: 0,
        issues: [{ label: 'Remove inactive plugins', severity: 'recommended' }],
        examined_at: now,
      },
      multisite: false,
      is_complete: true,
      read_at: now,
      updates_checked_at: now,
      updates_error: null,
      error: null,
    });
  });

  it('is seen by users who see the install', async () => {
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const other = await homeport.person(accountId, 'partial');
    expect((await wordpress(partial)).status).toBe(200);
    expect(await wordpress(other)).toMatchObject(NOT_FOUND);
    expect(await refresh(other)).toMatchObject(NOT_FOUND);
    expect(await summaries('', other)).toMatchObject({ count: 0, results: [] });
    expect(await summaries('', partial)).toMatchObject({ count: 1 });
  });
});

describe('a refresh', () => {
  it('is an operation, once a minute', async () => {
    clock.advance(MINUTE_MS);
    const answer = await refresh();
    expect(answer.status).toBe(202);
    expect(await refresh()).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    await homeport.idle();
    expect(checks()).toEqual([[install.id, true]]);
    const operation = text(answer.headers, 'location').replace('/v1', '');
    expect((await owner.client.get(operation)).body).toMatchObject({
      kind: 'wordpress.read',
      status: 'succeeded',
      install: { id: install.id },
    });
  });

  it('keeps the former result if the website cannot be read, and says why', async () => {
    clock.advance(MINUTE_MS);
    const before = (await wordpress()).body;
    const reason = 'WordPress does not start.';
    answerWith(async () => ({ refused: 'website', reason, mark: MARK }));
    await refresh();
    await homeport.idle();
    expect((await wordpress()).body).toEqual({ ...Object(before), error: reason });
    expect(await summaries()).toMatchObject({ results: [{ error: reason, plugin_updates: 1 }] });
  });

  it('keeps the time of the last answer if WordPress cannot ask for updates, and Site Health if it is not examined', async () => {
    clock.advance(MINUTE_MS);
    const before = (await wordpress()).body;
    const failed = { core: null, plugins: 'cURL error 7', themes: 'cURL error 7' };
    answerWith(async () => ({ ...READING, siteHealth: null, updateCheck: failed }));
    await refresh();
    await homeport.idle();
    expect((await wordpress()).body).toEqual({
      ...Object(before),
      read_at: clock.now().toISOString(),
      updates_error: 'No answer about updates of plugins, themes: cURL error 7',
      error: null,
    });
  });

  it('is refused while the install is pending', async () => {
    const { database } = homeport.platform;
    const set = (status: 'pending' | 'active') =>
      database.write(({ queries }) =>
        queries.updateTable('installs').set({ status }).where('id', '=', install.id).execute(),
      );
    await set('pending');
    expect(await refresh()).toMatchObject({ status: 409 });
    await set('active');
    expect(asked).toEqual([]);
  });
});

describe('the watch', () => {
  it('reads installs whose mark has changed, not more often than every five minutes', async () => {
    clock.advance(6 * MINUTE_MS);
    marks = [{ installId: install.id, mark: MARK }];
    await watch();
    expect(asked).toEqual([]);
    marks = [{ installId: install.id, mark: OTHER_MARK }];
    answerWith(async () => ({ ...READING, updateCheck: null, siteHealth: null, mark: OTHER_MARK }));
    await watch();
    expect(checks()).toEqual([[install.id, false]]);
    expect((await wordpress()).body).toMatchObject({ site_health: { status: 'good', recommended: 2 } });
    marks = [{ installId: install.id, mark: MARK }];
    await watch();
    expect(asked).toHaveLength(1);
  });

  it('reads every install once a day, with a check for updates', async () => {
    marks = [];
    clock.advance(DAY_MS - HOUR_MS);
    await watch();
    expect(asked).toEqual([]);
    clock.advance(HOUR_MS);
    await watch();
    await watch();
    expect(checks()).toEqual([[install.id, true]]);
  });

  it('does not repeat a failing reading before the next day or change', async () => {
    clock.advance(DAY_MS);
    marks = [{ installId: install.id, mark: MARK }];
    answerWith(async () => ({ refused: 'website', reason: 'It is broken.', mark: MARK }));
    await watch();
    clock.advance(HOUR_MS);
    await watch();
    expect(asked).toHaveLength(1);
    expect((await wordpress()).body).toMatchObject({ error: 'It is broken.', core: { version: '6.8' } });
  });
});

describe('the list of an account', () => {
  it('has the waiting updates of each install', async () => {
    const other = await homeport.install(owner, accountId);
    expect(await summaries('?updates=waiting')).toMatchObject({
      count: 1,
      results: [
        {
          install: { id: install.id, name: install.name },
          core: { version: '6.8', available_update: { version: '6.9' } },
          plugin_updates: 1,
          theme_updates: 0,
        },
      ],
    });
    const all = await summaries('?limit=1');
    expect(all).toMatchObject({ count: 2, next: expect.any(String) });
    const named = field(await summaries(), 'results');
    expect(named).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          install: expect.objectContaining({ id: other.id }),
          core: { version: '6.8.7', available_update: null },
          plugin_updates: null,
          theme_updates: null,
          read_at: null,
        }),
      ]),
    );
  });
});
