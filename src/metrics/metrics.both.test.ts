import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent } from '../../test/client.ts';
import { limiterFor } from '../../test/connections.ts';
import { visit } from '../../test/edge.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { signedIn } from '../../test/portal-client.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { healthAt } from '../api/health.ts';
import { createReadiness } from '../api/readiness.ts';
import { deliverWebhook, jobOfLane } from '../features/accounts/webhooks/jobs.ts';
import { backupAges } from '../features/backups/backup-ages-store.ts';
import { insertBackup } from '../features/backups/store.ts';
import { insertHost, updateHost } from '../features/hosts/store.ts';
import { transferLane, transferSite } from '../features/transfers/jobs.ts';
import { timestamp } from '../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../lib/durations.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createMeasurements } from './measurements.ts';
import { startMetrics } from './server.ts';

const connections = { api: limiterFor('api'), edge: limiterFor('edge'), ssh: limiterFor('ssh') };
let homeport: TestHomeport;
let clock: ManualClock;
let origin: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_METRICS_LISTEN: `127.0.0.1:${port}` },
  });
});
afterAll(() => homeport.remove());

async function scrape(): Promise<Map<string, number>> {
  clock.advance(5_000);
  const { statusCode, body } = await request(`${origin}/metrics`);
  expect(statusCode).toBe(200);
  const lines = (await body.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line): [string, number] => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

it('counts certificates and their problems', async () => {
  const before = await scrape();
  expect(before.get('homeport_certificates_expiring{within_days="14"}')).toBe(0);
  expect(before.get('homeport_certificate_next_expiry_timestamp_seconds{source="LETS_ENCRYPT"}')).toBe(0);
  expect(before.get('process_cpu_seconds_total')).toBeGreaterThan(0);

  const { accountId, owner } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  await owner.client.post(`/installs/${install.id}/domains`, { name: 'metrics.example' });
  await homeport.idle();
  const counted = async (source: string) => (await scrape()).get(`homeport_certificates{source="${source}"}`);
  clock.advance(5 * MINUTE_MS);
  await expect.poll(() => counted('SELF_SIGNED')).toBe(2);

  const expires = new Date(clock.now().getTime() + 5 * DAY_MS);
  await homeport.platform.database.write(async ({ queries }) => {
    const { id } = await queries
      .updateTable('domains')
      .set({ ssl_status: 'failed' })
      .where('name', '=', 'metrics.example')
      .returning('id')
      .executeTakeFirstOrThrow();
    await queries
      .updateTable('certificates')
      .set({ source: 'LETS_ENCRYPT', not_after: expires.toISOString() })
      .where('domain_id', '=', id)
      .execute();
  });
  const lane = { webhook_id: install.id, lane: 'down', account_id: accountId };
  await homeport.platform.database.write(async (transaction) => {
    const { queue } = homeport.platform;
    await queue.ensure(transaction, deliverWebhook, { ...jobOfLane(lane), delayMs: DAY_MS });
    // Not due: it waits for an answer of people.
    await queue.enqueue(transaction, transferSite, {
      payload: { transfer_id: install.id },
      lane: transferLane(install.id),
      account: accountId,
      operation: null,
      delayMs: DAY_MS,
    });
  });
  // Certificates are counted every five minutes.
  clock.advance(5 * MINUTE_MS);
  // A scrape waits for no new count.
  expect(await counted('LETS_ENCRYPT')).toBe(0);
  await expect.poll(() => counted('LETS_ENCRYPT')).toBe(1);
  const after = await scrape();
  expect(after.get('homeport_certificates_expiring{within_days="14"}')).toBe(1);
  expect(after.get('homeport_certificates_expiring{within_days="7"}')).toBe(1);
  expect(after.get('homeport_certificates_expiring{within_days="1"}')).toBe(0);
  expect(after.get('homeport_certificate_next_expiry_timestamp_seconds{source="LETS_ENCRYPT"}')).toBe(
    expires.getTime() / 1000,
  );
  expect(after.get('homeport_certificates_failing')).toBe(1);
  expect(after.get('homeport_jobs{class="short",state="queued"}')).toBe(0);
  expect(after.get('homeport_jobs{class="long",state="running"}')).toBe(0);
  expect([...after.keys()].join('\n')).not.toContain('metrics.example');
});

it('counts accepted and refused connections', async () => {
  const figures = await scrape();
  for (const server of ['api', 'edge', 'ssh']) {
    expect(figures.get(`homeport_connections{server="${server}"}`)).toBeGreaterThanOrEqual(0);
    expect(figures.get(`homeport_connections_limit{server="${server}"}`)).toBeGreaterThan(0);
    expect(figures.get(`homeport_connections_refused_total{server="${server}"}`)).toBe(0);
  }
});

it('measures requests by route, and attempts of jobs by kind', async () => {
  const { owner } = await homeport.ownedAccount();
  await owner.client.get('/installs?limit=1');
  await owner.client.get(`/installs/${crypto.randomUUID()}`);
  const figures = await scrape();
  const requests = (labels: string) => figures.get(`homeport_http_request_duration_seconds_count{${labels}}`);
  expect(requests('method="GET",route="/v1/installs",status="200"')).toBeGreaterThan(0);
  expect(requests('method="GET",route="/v1/installs/:install_id",status="404"')).toBe(1);
  const attempts = 'homeport_job_duration_seconds_count{kind="apply_install",outcome="done"}';
  expect(figures.get(attempts)).toBeGreaterThan(0);
  expect(figures.get('homeport_installs{status="active"}')).toBeGreaterThan(0);
  expect(figures.get('homeport_installs_with_updates')).toBe(0);
  expect(figures.get('homeport_incidents_open')).toBe(0);
  const operations = 'homeport_operation_duration_seconds_count{kind="install.create",status="succeeded"}';
  expect(figures.get(operations)).toBeGreaterThan(0);
});

it('measures the edge of the embedded host, without names of websites', async () => {
  const { owner, accountId } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  await homeport.idle();
  const served = 'homeport_edge_requests_total{host="embedded",status="2xx"}';
  const before = await scrape();
  const response = await visit(homeport, `http://${install.name}.localhost/`);
  expect(response.status).toBe(200);
  const after = await scrape();
  expect(Number(after.get(served))).toBe(Number(before.get(served)) + 1);
  expect(Number(after.get('homeport_edge_sent_bytes_total{host="embedded"}'))).toBeGreaterThan(0);
  expect(after.get('homeport_wordpress_cron_late{host="embedded"}')).toBe(0);
  // Installs are not backed up daily on the embedded host.
  expect(after.get('homeport_installs_without_recent_backup')).toBeUndefined();
  expect([...after.keys()].join('\n')).not.toContain(install.name);
});

it('tells how old the newest backups are', async () => {
  const { database } = homeport.platform;
  const later = timestamp(clock, DAY_MS);
  const before = await backupAges(database.reader, later);
  const { owner, accountId } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  await homeport.idle();
  const backedUp = async (created_at: string) =>
    database.write(({ queries }) =>
      insertBackup(queries, {
        id: crypto.randomUUID(),
        install_id: install.id,
        description: 'Night',
        notification_emails: [],
        requested_by: null,
        scheduled: true,
        created_at,
      }).then(() =>
        queries
          .updateTable('backups')
          .set({ status: 'completed' })
          .where('install_id', '=', install.id)
          .execute(),
      ),
    );
  expect(await backupAges(database.reader, later)).toMatchObject({ without: before.without + 1 });
  await backedUp('2026-01-01T00:00:00.000Z');
  await backedUp('2026-04-01T00:00:00.000Z');
  expect(await backupAges(database.reader, later)).toEqual({
    oldest: '2026-04-01T00:00:00.000Z',
    without: before.without + 1,
  });
  await backedUp(later);
  expect((await backupAges(database.reader, later)).without).toBe(before.without);
});

it('takes a host for lost that no process has seen for minutes, but not one that never answered', async () => {
  const { database } = homeport.platform;
  const id = crypto.randomUUID();
  const host = { name: 'web7', address: 'https://10.0.0.7:7443', public_name: null, edge_addresses: [] };
  await database.write(async ({ queries }) => {
    await insertHost(queries, { id, ...host, created_at: timestamp(clock) });
    await updateHost(queries, id, { reason: 'it refuses connections' });
  });
  const added = await scrape();
  expect(added.has('homeport_host_up{host="web7"}')).toBe(false);
  expect(added.get('homeport_host_seen_timestamp_seconds{host="web7"}')).toBe(0);
  await database.write(({ queries }) => updateHost(queries, id, { reason: null, seen_at: timestamp(clock) }));
  expect((await scrape()).get('homeport_host_up{host="web7"}')).toBe(1);
  clock.advance(4 * MINUTE_MS);
  const later = await scrape();
  expect(later.get('homeport_host_up{host="web7"}')).toBe(0);
  expect(later.get('homeport_host_seen_timestamp_seconds{host="web7"}')).toBeGreaterThan(0);
});

it('measures neither streams of events nor the questions of balancers', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  const { cookie } = await signedIn(homeport, owner);
  const agent = createAgent(homeport.ca);
  await (await request(`${homeport.origin}/healthz`, { dispatcher: agent })).body.text();
  const { statusCode, body } = await request(`${homeport.origin}/portal/api/events`, {
    dispatcher: agent,
    headers: cookie === null ? {} : { cookie },
  });
  expect(statusCode).toBe(200);
  // Ends the session's stream.
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('accounts')
      .set({ requires_second_factor: true })
      .where('id', '=', accountId)
      .execute(),
  );
  await body.text();
  await agent.destroy();
  const figures = await scrape();
  const routes = [...figures.keys()].filter((name) => name.startsWith('homeport_http_request_duration'));
  expect(routes.filter((name) => /route="\/(v1\/installs|portal\/api\/session)"/.test(name))).not.toEqual([]);
  expect(routes.filter((name) => /events|healthz/.test(name))).toEqual([]);
});

it('tells balancers whether it can answer, on both ports', async () => {
  const at = async (path: string) => {
    const { statusCode, body } = await request(`${origin}${path}`);
    return { status: statusCode, text: await body.text() };
  };
  expect(await at('/healthz')).toEqual({ status: 200, text: 'ok\n' });
  expect(await at('/readyz')).toEqual({ status: 200, text: 'ok\n' });
  const agent = createAgent(homeport.ca);
  const { statusCode, headers } = await request(`${homeport.origin}/readyz`, { dispatcher: agent });
  expect({ statusCode, cache: headers['cache-control'] }).toEqual({ statusCode: 200, cache: 'no-store' });
  await agent.destroy();
});

it('is not ready without a database, and while it stops', async () => {
  const { database } = homeport.platform;
  let isGone = true;
  const ping = async () => {
    if (isGone) throw new Error('gone');
  };
  const broken = createReadiness({ ping }, clock);
  expect(await broken.obstacle()).toBe('The database does not answer.');
  isGone = false;
  // A clock that is set back, as time servers do, must not keep the former answer.
  clock.advance(-60_000);
  expect(await broken.obstacle()).toBeNull();
  clock.advance(60_000);
  const stopping = createReadiness(database, clock);
  expect(await stopping.obstacle()).toBeNull();
  stopping.stop();
  expect(await stopping.obstacle()).toBe('This process is stopping.');
  expect(await healthAt('/healthz', stopping)).toEqual({ status: 200, text: 'ok\n' });
  expect(await healthAt('/readyz', stopping)).toEqual({ status: 503, text: 'This process is stopping.\n' });
});

it('queries the database once in five seconds, and answers 404 for other paths', async () => {
  await scrape();
  const read = async () => (await request(`${origin}/metrics`)).body.text();
  expect(await read()).toBe(await read());
  expect((await request(`${origin}/`)).statusCode).toBe(404);
  expect((await request(`${origin}/metrics`, { method: 'POST' })).statusCode).toBe(404);
});

it('names the setting if its address is in use, and answers 503 without a database', async () => {
  const port = Number(new URL(origin).port);
  const readiness = createReadiness(homeport.platform.database, clock);
  const answering = async () => [];
  const parts = async () => ({
    measurements: await createMeasurements(),
    readiness,
    connections,
    answering,
  });
  await expect(startMetrics(homeport.platform, { host: '127.0.0.1', port }, await parts())).rejects.toThrow(
    OperatorError,
  );

  const { database } = homeport.platform;
  const broken = {
    ...homeport.platform,
    database: {
      ...database,
      get reader(): typeof database.reader {
        throw new Error('gone');
      },
    },
  };
  const metrics = await startMetrics(broken, { host: '127.0.0.1', port: 0 }, await parts());
  const answer = await request(`http://127.0.0.1:${metrics.address.port}/metrics`);
  expect(answer.statusCode).toBe(503);
  await metrics.close();
});
