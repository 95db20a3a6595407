import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { silent } from '../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { mostlyOn, onlyOn } from '../../../test/only-on.ts';
import { runningJob } from '../../../test/running-job.ts';
import type { LogQuery } from '../../hosting/contract/logs.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { mailNotifications } from '../accounts/notifications/jobs.ts';
import type { HostingAddresses } from '../hosts/hosting-addresses.ts';
import { KEEP_HISTORY_MS } from './history.ts';
import { type Answering, type LocalEdge, startLocalEdge } from './local-edge.fixture.ts';
import { deleteUptimeBefore } from './store.ts';
import { watchSchedule, websiteWatch } from './watch.ts';
import { placeOfWatched, watchedInstalls } from './watched-store.ts';

const rule = onlyOn('sqlite', it);
const rules = onlyOn('sqlite', describe);
const START = new Date('2026-03-10T12:00:00.000Z');
/** A busy machine answers late; only websites that never answer have a limit that is waited out. */
const PATIENT_MS = 30_000;
const LIMIT_OF_HANGING_MS = 1_500;

let clock: ManualClock;
let homeport: TestHomeport;
let edge: LocalEdge;
let accountId: string;
let owner: Person;
/** Where the watch finds the edge. */
let addresses: HostingAddresses | null;
/** The PHP log of every website. */
let phpLog: string[];
let logQueries: LogQuery[];

beforeAll(async () => {
  clock = manualClock(START);
  edge = await startLocalEdge({ names: ['shop.test'], notBefore: new Date('2026-03-01'), days: 30 });
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_SITE_DOMAIN: 'sites.test' },
  });
});
beforeEach(async () => {
  ({ accountId, owner } = await homeport.ownedAccount());
  edge.answers.clear();
  edge.asked.length = 0;
  phpLog = [];
  logQueries = [];
  addresses = listeningAt(edge.ports);
});
afterEach(async () => {
  await homeport.platform.database.write(({ queries }) => queries.deleteFrom('installs').execute());
  clock.advance(HOUR_MS);
});
afterAll(async () => {
  edge?.close();
  await homeport?.remove();
});

function listeningAt({ http, https }: LocalEdge['ports']): HostingAddresses {
  const at = (port: number) => ({ host: '127.0.0.1', port });
  return { edgeHttp: at(http), edgeHttps: at(https), ssh: at(1) };
}

/** A website of the environment, with its host name. */
async function website(environment: 'production' | 'staging' | null = 'production') {
  const install = await homeport.install(owner, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('installs').set({ environment }).where('id', '=', install.id).execute(),
  );
  return { ...install, hostname: `${install.name}.sites.test` };
}

/** Checks all websites as the job does, now and after each further minute. */
async function check(
  rounds = 1,
  parts: { limitMs?: number; pageEvery?: number } = { pageEvery: 2 },
  platform: Parameters<typeof websiteWatch>[0] = homeport.platform,
): Promise<void> {
  const kind = websiteWatch(platform, {
    host: {
      async readLog(_install, query) {
        logQueries.push(query);
        return { lines: phpLog, cursor: null, end: '2026-03-10.1.1' };
      },
    },
    embedded: () => addresses,
    limitMs: PATIENT_MS,
    ...parts,
  });
  for (let round = 0; round < rounds; round++) {
    const completion = await kind.run({}, runningJob({ log: silent }));
    if (completion) await homeport.platform.database.write(completion);
    clock.advance(MINUTE_MS);
  }
  await homeport.services.eventPlacement.place();
}

const uptimeOf = async ({ id }: { id: string }, person = owner) =>
  (await person.client.get(`/installs/${id}/uptime`)).body;

async function incidentsOf({ id }: { id: string }, query = '') {
  const found = field((await owner.client.get(`/installs/${id}/incidents${query}`)).body, 'results');
  if (!Array.isArray(found)) throw new Error('no list');
  return found;
}

async function eventsOf({ id }: { id: string }): Promise<string[]> {
  const { body } = await owner.client.get(`/events?install_id=${id}`);
  const results = field(body, 'results');
  return Array.isArray(results)
    ? results.map((event) => text(event, 'type')).filter((type) => type.startsWith('incident.'))
    : [];
}

async function notifications(person = owner): Promise<Record<string, unknown>[]> {
  const results = field((await person.client.get('/user/notifications?category=uptime')).body, 'results');
  return Array.isArray(results) ? results : [];
}

describe('an incident', () => {
  it('needs two failures in a row, and ends with the first success', async () => {
    const shop = await website();
    await check(3);
    expect(await uptimeOf(shop)).toMatchObject({ monitored: true, state: 'up', incident: null });

    edge.answers.set(shop.hostname, { status: 500 });
    // The next page may be asked for in ten minutes only, so let the cache have the failure.
    await check(1);
    edge.answers.delete(shop.hostname);
    await check(2);
    expect(await incidentsOf(shop)).toEqual([]);
    expect(await uptimeOf(shop)).toMatchObject({ percentages: { last_24_hours: 100 } });

    const began = clock.now().toISOString();
    edge.answers.set(shop.hostname, { status: 500 });
    phpLog = [
      JSON.stringify({ time: began, level: 'warning', message: 'PHP Warning: harmless' }),
      JSON.stringify({
        time: began,
        level: 'error',
        message:
          'PHP Fatal error: Uncaught Error: x in /srv/a/htdocs/wp-content/plugins/a/a.php:7\nStack trace: …',
      }),
    ];
    await check(1);
    expect(await incidentsOf(shop)).toEqual([]);
    await check(1);
    const down = {
      cause: 'status',
      message: 'The home page answered 500.',
      php_error: 'Uncaught Error: x in wp-content/plugins/a/a.php:7',
      started_at: began,
      ended_at: null,
      duration_seconds: 120,
      install: { id: shop.id, name: shop.name },
    };
    expect(await incidentsOf(shop)).toMatchObject([down]);
    expect(await incidentsOf(shop, '?state=ended')).toEqual([]);
    expect(await uptimeOf(shop)).toMatchObject({ state: 'down', since: began, incident: down });
    expect(logQueries).toHaveLength(1);
    expect(await eventsOf(shop)).toEqual(['incident.started']);
    expect(await notifications()).toMatchObject([
      {
        title: `The website of ${shop.name} is down`,
        message: 'The home page answered 500.',
        severity: 'error',
        read: false,
      },
    ]);

    await check(3);
    edge.answers.delete(shop.hostname);
    const recovered = clock.now().toISOString();
    await check(2);
    expect(await incidentsOf(shop)).toMatchObject([{ ended_at: recovered, duration_seconds: 300 }]);
    expect(await eventsOf(shop)).toEqual(['incident.started', 'incident.ended']);
    expect(await notifications()).toMatchObject([
      { title: `The website of ${shop.name} is up again`, severity: 'success', read: false },
      { title: `The website of ${shop.name} is down`, read: true },
    ]);
    const uptime = await uptimeOf(shop);
    // Six minutes up, one failure that was none, five down, and one up that is over.
    expect(uptime).toMatchObject({ state: 'up', since: recovered });
    const today = field(uptime, 'days', 89);
    expect(today).toMatchObject({ down_seconds: 300, observed_seconds: 780 });
  });

  rules('has a cause', () => {
    it.each([
      ['status', { status: 502 }, 'The home page answered 502.'],
      ['connection', 'cuts', 'The web server closed the connection without an answer.'],
      [
        'wordpress',
        { status: 200, body: '<p>There has been a critical error on this website.</p>' },
        'WordPress answered 200: "There has been a critical error".',
      ],
    ] as const)('%s', async (cause, answering, message) => {
      const shop = await website();
      edge.answers.set(shop.hostname, answering);
      await check(4, { pageEvery: 2 });
      expect(await incidentsOf(shop)).toMatchObject([{ cause, message, ended_at: null }]);
    });
  });

  rule('is no password, no closed page, no maintenance and no redirect elsewhere', async () => {
    const websites = await Promise.all([website(), website(), website(), website()]);
    const answers: Answering[] = [
      { status: 401 },
      { status: 403 },
      { status: 503, headers: { 'retry-after': '600' } },
      { status: 301, headers: { location: 'https://elsewhere.test/' } },
    ];
    for (const [index, { hostname }] of websites.entries()) {
      const chosen = answers[index];
      if (chosen) edge.answers.set(hostname, chosen);
    }
    await check(4);
    for (const one of websites) {
      expect(await uptimeOf(one)).toMatchObject({ state: 'up', percentages: { last_7_days: 100 } });
    }
  });

  rule('follows redirects to its own names, and finds circles', async () => {
    const [shop, blog] = [await website(), await website()];
    edge.answers.set(`${shop.hostname}/`, { status: 301, headers: { location: '/en/' } });
    edge.answers.set(`${shop.hostname}/en/`, { status: 500 });
    edge.answers.set(`${blog.hostname}/`, { status: 302, headers: { location: '/en/' } });
    edge.answers.set(`${blog.hostname}/en/`, { status: 302, headers: { location: '/' } });
    await check(4);
    expect(await incidentsOf(shop)).toMatchObject([{ cause: 'status' }]);
    expect(await incidentsOf(blog)).toMatchObject([
      {
        cause: 'redirects',
        message: `The redirects go in a circle: http://${blog.hostname}/ → http://${blog.hostname}/en/ → http://${blog.hostname}/.`,
      },
    ]);
  });

  rule('has an expired certificate as its cause', async () => {
    const shop = await website();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('certificates')
        .set({ source: 'THIRD_PARTY' })
        .where('domain_id', 'in', (eb) =>
          eb.selectFrom('domains').select('id').where('install_id', '=', shop.id),
        )
        .execute(),
    );
    await check(3);
    expect(await uptimeOf(shop)).toMatchObject({ state: 'up' });
    clock.advance(30 * 24 * HOUR_MS);
    await check(4);
    expect(await incidentsOf(shop)).toMatchObject([
      { cause: 'certificate', message: 'The certificate expired on 2026-03-31.' },
    ]);
    expect(edge.asked.some((line) => line.includes(`https://${shop.hostname}/ cached`))).toBe(true);
  });

  mostlyOn('sqlite', it)('ends without news if the website is not watched any more', async () => {
    const shop = await website();
    edge.answers.set(shop.hostname, { status: 500 });
    await check(4);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ environment: 'staging' }).where('id', '=', shop.id).execute(),
    );
    await check(1);
    expect(await incidentsOf(shop, '?state=open')).toEqual([]);
    expect(await eventsOf(shop)).toEqual(['incident.started']);
    expect(await uptimeOf(shop)).toMatchObject({
      monitored: false,
      reason: 'Homeport checks active installs of the environment production.',
    });
  });
});

describe('a watch that is switched off', () => {
  it('ends the open incidents without notifications, and queues nothing more', async () => {
    const shop = await website();
    edge.answers.set(shop.hostname, { status: 500 });
    await check(4);
    const { platform } = homeport;
    const off = { ...platform, config: { ...platform.config, watchWebsites: false } };
    const queued = () =>
      platform.database.write(async (transaction) => {
        await watchSchedule(off).enqueue(transaction, platform.queue);
        const deleted = await transaction.queries
          .deleteFrom('jobs')
          .where('kind', '=', 'watch_websites')
          .where('state', '=', 'queued')
          .returning('id')
          .execute();
        return deleted.length;
      });
    expect(await queued()).toBe(1);
    edge.asked.length = 0;
    await check(1, {}, off);
    expect(edge.asked).toEqual([]);
    expect(await incidentsOf(shop, '?state=open')).toEqual([]);
    expect(await incidentsOf(shop)).toMatchObject([{ cause: 'status' }]);
    expect(await eventsOf(shop)).toEqual(['incident.started']);
    expect(await queued()).toBe(0);
  });
});

mostlyOn('sqlite', describe)('the checks', () => {
  rule('ask PHP once in a while, and the cache at other times', async () => {
    const shop = await website();
    await check(60, {});
    const pages = edge.asked.filter((line) => line === `GET http://${shop.hostname}/`);
    const cached = edge.asked.filter((line) => line === `HEAD http://${shop.hostname}/ cached`);
    // Hourly on an embedded host, whose PHP ends when it rests.
    expect([pages.length, cached.length]).toEqual([1, 59]);
  });

  it('leave out other websites than production', async () => {
    const others = [await website('staging'), await website(null)];
    await check(2);
    expect(edge.asked).toEqual([]);
    for (const one of others)
      expect(await uptimeOf(one)).toMatchObject({ monitored: false, state: 'unknown' });
  });

  rule('do not wait for websites that hang, whose cause is the timeout', async () => {
    const hanging = await Promise.all(Array.from({ length: 5 }, () => website()));
    const shop = await website();
    for (const { hostname } of hanging) edge.answers.set(hostname, 'hangs');
    await check(4, { pageEvery: 2, limitMs: LIMIT_OF_HANGING_MS });
    expect(await uptimeOf(shop)).toMatchObject({ state: 'up' });
    const message = 'The home page did not answer within 1.5 seconds.';
    for (const one of hanging) {
      expect(await incidentsOf(one)).toMatchObject([{ cause: 'timeout', message, ended_at: null }]);
    }
  });

  it('leave a gap where nobody looked, and where the host restarted', async () => {
    const shop = await website();
    await check(3);
    clock.advance(HOUR_MS);
    // Not known yet where this process serves websites.
    addresses = null;
    await check(1);
    addresses = listeningAt({ http: 1, https: 1 });
    await check(4);
    expect(await incidentsOf(shop)).toEqual([]);
    expect(await uptimeOf(shop)).toMatchObject({ state: 'unknown', percentages: { last_24_hours: 100 } });
    addresses = listeningAt(edge.ports);
    await check(2);
    expect(await incidentsOf(shop)).toEqual([]);
    expect(field(await uptimeOf(shop), 'days', 89)).toMatchObject({ down_seconds: 0 });
    expect(await uptimeOf(shop)).toMatchObject({ state: 'up' });
  });

  it('ask again if a website fails right after its host was silent', async () => {
    const shop = await website();
    await check(2);
    addresses = listeningAt({ http: 1, https: 1 });
    await check(1);
    addresses = listeningAt(edge.ports);
    edge.answers.set(shop.hostname, { status: 502 });
    await check(1);
    expect(await incidentsOf(shop)).toEqual([]);
    const second = clock.now().getTime() - MINUTE_MS;
    await check(1);
    expect(await incidentsOf(shop)).toMatchObject([
      { cause: 'status', started_at: new Date(second).toISOString() },
    ]);
  });

  it('take a host that stays silent for an incident of its websites, with few mails', async () => {
    const websites = await Promise.all(Array.from({ length: 8 }, () => website()));
    await check(2);
    const began = clock.now().toISOString();
    addresses = listeningAt({ http: 1, https: 1 });
    await check(7);
    for (const one of websites) {
      expect(await incidentsOf(one)).toMatchObject([
        {
          cause: 'host',
          message: 'The machine that the website is on does not answer.',
          started_at: began,
        },
      ]);
    }
    // Five by name, and one for the others.
    expect(await notifications()).toHaveLength(6);
    await homeport.setPassword(owner, 'correct horse battery');
    const before = mailsTo(homeport, owner.email).length;
    clock.advance(5 * MINUTE_MS);
    const { database, queue } = homeport.platform;
    await database.write((transaction) =>
      queue.enqueue(transaction, mailNotifications, { payload: {}, lane: null }),
    );
    await homeport.idle();
    expect(mailsTo(homeport, owner.email)).toHaveLength(before + 1);
  });

  it('take turns if there are very many websites', async () => {
    const all = await Promise.all([website(), website(), website()]);
    const { reader } = homeport.platform.database;
    const pages = await Promise.all(
      [0, 2].map(async (offset) => {
        const after = (await placeOfWatched(reader, offset)) ?? Number.NaN;
        return watchedInstalls(reader, { after, limit: 2 });
      }),
    );
    const [first = [], second = []] = pages.map(({ websites }) => websites);
    expect(pages.map(({ end }) => end === null)).toEqual([false, true]);
    expect(await placeOfWatched(reader, 3)).toBeNull();
    // In steps of one website, as for very many.
    for (const offset of [0, 1, 2, 3])
      expect(await placeOfWatched(reader, offset, 1)).toBe(await placeOfWatched(reader, offset));
    const found = [...first, ...second].map(({ id }) => id);
    expect(found.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    expect(first.length).toBeGreaterThan(0);
    expect(second.length).toBeGreaterThan(0);
  });

  it('are queued once a minute, and not while earlier ones run', async () => {
    const { platform } = homeport;
    const schedule = watchSchedule(platform);
    await platform.database.write(async (transaction) => {
      await schedule.enqueue(transaction, platform.queue);
      await schedule.enqueue(transaction, platform.queue);
      const jobs = await transaction.queries
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', 'watch_websites')
        .execute();
      expect(jobs).toHaveLength(1);
    });
    // The worker of this server asks its own edge.
    await homeport.idle();
  });

  it('reach the edge of this server', async () => {
    const shop = await website();
    addresses = homeport.hosting;
    await check(2);
    expect(await uptimeOf(shop)).toMatchObject({ state: 'up' });
  });
});

describe('what is stored', () => {
  const rows = async (table: 'uptime_spans' | 'uptime_incidents', installId: string) =>
    homeport.platform.database.reader
      .selectFrom(table)
      .select('install_id')
      .where('install_id', '=', installId)
      .execute();

  it('is one row for each state, ends with the install, and moves to another account with it', async () => {
    const [shop, blog] = [await website(), await website()];
    edge.answers.set(shop.hostname, { status: 500 });
    await check(30);
    expect(await rows('uptime_spans', shop.id)).toHaveLength(1);
    expect(await rows('uptime_spans', blog.id)).toHaveLength(1);
    expect(await rows('uptime_incidents', blog.id)).toEqual([]);

    const next = await homeport.ownedAccount();
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ account_id: next.accountId }).where('id', '=', shop.id).execute(),
    );
    const found = (await next.owner.client.get(`/accounts/${next.accountId}/incidents`)).body;
    expect(found).toMatchObject({ count: 1, results: [{ install: { id: shop.id } }] });
    expect((await owner.client.get(`/accounts/${accountId}/incidents`)).body).toMatchObject({ count: 0 });

    expect((await owner.client.delete(`/installs/${blog.id}`)).status).toBe(204);
    expect(await rows('uptime_spans', blog.id)).toEqual([]);
  });

  it('is deleted after 91 days', async () => {
    const shop = await website();
    edge.answers.set(shop.hostname, { status: 500 });
    await check(3);
    edge.answers.delete(shop.hostname);
    await check(1);
    const { database } = homeport.platform;
    const oldest = () => new Date(clock.now().getTime() - KEEP_HISTORY_MS).toISOString();
    await database.write(({ queries }) => deleteUptimeBefore(queries, oldest()));
    expect(await rows('uptime_incidents', shop.id)).toHaveLength(1);
    clock.advance(KEEP_HISTORY_MS);
    await database.write(({ queries }) => deleteUptimeBefore(queries, oldest()));
    expect(await rows('uptime_incidents', shop.id)).toEqual([]);
    expect(await rows('uptime_spans', shop.id)).toEqual([]);
  });
});

describe('who sees them', () => {
  it('is who sees the install', async () => {
    const [shop, blog] = [await website(), await website()];
    for (const { hostname } of [shop, blog]) edge.answers.set(hostname, { status: 500 });
    await check(4);
    const partial = await homeport.person(accountId, 'partial', [shop.id]);
    const stranger = await homeport.person();
    const list = async (person: Person) =>
      (await person.client.get(`/accounts/${accountId}/incidents?state=open`)).body;
    expect(await list(owner)).toMatchObject({ count: 2 });
    expect(await list(partial)).toMatchObject({ count: 1, results: [{ install: { id: shop.id } }] });
    expect((await stranger.client.get(`/accounts/${accountId}/incidents`)).status).toBe(404);
    expect((await partial.client.get(`/installs/${shop.id}/incidents`)).status).toBe(200);
    expect(await uptimeOf(shop, partial)).toMatchObject({ state: 'down' });
    for (const path of ['uptime', 'incidents']) {
      expect((await partial.client.get(`/installs/${blog.id}/${path}`)).status).toBe(404);
      expect((await stranger.client.get(`/installs/${shop.id}/${path}`)).status).toBe(404);
    }
    expect((await owner.client.get(`/installs/${shop.id}/incidents?state=down`)).status).toBe(400);
  });
});
