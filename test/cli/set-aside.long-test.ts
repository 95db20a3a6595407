import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import {
  type FakeDnsServer,
  reply,
  startFakeDnsServer,
} from '../../src/network/dns/fake-dns-server.fixture.ts';
import { type Client, createAgent, createClient, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { installName } from '../homeport.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor, type Running, serve } from './run-homeport.ts';

const CREDENTIAL = { username: crypto.randomUUID(), password: 'for-the-set-aside-test-only' };
const DOMAIN = 'deadly.example.org';

let place: DatabasePlace;
let environment: Environment;
let resolver: FakeDnsServer;
let server: Running;
let database: Database;

beforeAll(async () => {
  place = await databasePlace();
  // No answer for the domain: so its check runs for seconds.
  resolver = await startFakeDnsServer((query) =>
    query.name.toLowerCase().endsWith(DOMAIN) ? [] : [reply(query)],
  );
  environment = await environmentFor(place, {
    HOMEPORT_RESOLVERS: `127.0.0.1:${resolver.port}`,
    HOMEPORT_INITIAL_CREDENTIAL: `${CREDENTIAL.username}:${CREDENTIAL.password}`,
  });
  server = await serve(environment);
  database = openDatabase(place.settings, silent);
});
afterAll(async () => {
  server.process.kill('SIGKILL');
  await server.ended;
  await database.close();
  await resolver.close();
  await place.remove();
});

async function withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  const agent = createAgent(readFileSync(ownCertificateFile(place.settings.dataDir), 'utf8'));
  const origin = environment.HOMEPORT_PUBLIC_URL ?? '';
  try {
    return await work(createClient({ origin, agent, conformance: () => undefined }, CREDENTIAL));
  } finally {
    await agent.destroy();
  }
}

/** Kills the server while the job runs for the `attempt`th time, as a crash in it would. */
async function dieDuring(job: string, attempt: number): Promise<void> {
  const isRunning = async () => {
    const row = await database.reader
      .selectFrom('jobs')
      .select('attempt')
      .where('id', '=', job)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return row?.attempt;
  };
  await expect.poll(isRunning, { timeout: 60_000, interval: 20 }).toBe(attempt);
  server.process.kill('SIGKILL');
  await server.ended;
}

// The queue has poison.both.long-test.ts on both databases.
test('a check of a domain that ends the server twice is set aside, and the third start lives', async () => {
  const { operation, report } = await withClient(async (client) => {
    const account = text((await client.get('/accounts')).body, 'results', 0, 'id');
    const site = await client.post('/sites', { name: 'Deadly', account_id: account });
    const name = installName();
    const install = await client.post('/installs', {
      ...{ name, account_id: account, site_id: text(site.body, 'id'), environment: 'production' },
    });
    const path = `/installs/${text(install.body, 'id')}/domains`;
    const domain = await client.post(path, { name: DOMAIN });
    const check = await client.post(`${path}/${text(domain.body, 'id')}/check_status`);
    expect(check.status, JSON.stringify(check.body)).toBe(202);
    const location = check.headers.location;
    if (typeof location !== 'string') throw new Error('there is no operation');
    return {
      operation: location.replace('/v1', ''),
      report: `${path}/check_status/${text(check.body, 'report_id')}`,
    };
  });
  const job = operation.split('/').at(-1) ?? '';

  await dieDuring(job, 1);
  server = await serve(environment);
  await dieDuring(job, 2);
  server = await serve(environment);

  await withClient(async (client) => {
    const status = async () => Object(await client.get(operation)).body.status;
    await expect.poll(status, { timeout: 60_000, interval: 100 }).toBe('failed');
    expect((await client.get(operation)).body).toMatchObject({
      error: {
        code: 'set_aside',
        message: 'The server stopped each time this ran, so it is not tried again. Contact your provider.',
      },
    });
    expect((await client.get(report)).body).toMatchObject({ report: { complete: true } });
  });

  const listed = await callJson(environment, 'job', 'list');
  expect(listed).toMatchObject([{ id: job, kind: 'check_domain', install: expect.any(String) }]);
  const doctor = await call(environment, 'doctor');
  expect(doctor.stdout).toMatch(
    new RegExp(`^problem +set aside jobs +The server died each time.*check_domain of \\S+ \\(${job}\\)`, 'm'),
  );
  const retried = await call(environment, 'job', 'retry', job);
  expect([retried.code, retried.stderr]).toEqual([1, expect.stringContaining('Request the work again.')]);
  expect((await call(environment, 'job', 'drop', job)).code).toBe(0);
  expect(await callJson(environment, 'job', 'list')).toEqual([]);
  expect(server.process.exitCode).toBe(null);
}, 180_000);
