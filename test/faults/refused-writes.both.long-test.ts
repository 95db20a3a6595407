import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import { begin, environmentFor, type Running, serve } from '../cli/run-homeport.ts';
import { type Client, createAgent, createClient } from '../client.ts';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { onlyOn } from '../only-on.ts';
import { onlyInLong } from '../rounds.ts';

const OWNER = { username: '0c7f2a5e-3b1d-4e6f-8a90-1d2c3b4a5f60', password: 'sixteen characters and more' };
const FAILURES = 20;
const READS = 200;

/** Makes the database of a running server take no more writes, or take them again. */
async function takeWrites(place: DatabasePlace, server: Running, takes: boolean): Promise<void> {
  const { databaseUrl } = place.settings;
  if (databaseUrl === null) {
    // As a full disk: no file of the process may grow beyond its first byte (prlimit(1)).
    const limit = takes ? 'unlimited' : '1';
    await promisify(execFile)('prlimit', ['--pid', String(server.process.pid), `--fsize=${limit}:unlimited`]);
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const name = client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1));
  await client.query('set default_transaction_read_only = off');
  await client.query(`alter database ${name} set default_transaction_read_only = ${takes ? 'off' : 'on'}`);
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
}

describe.runIf(process.platform === 'linux')('a database that takes no writes', () => {
  let place: DatabasePlace;
  let server: Running;
  let owner: Client;
  let stranger: Client;
  let guesser: Client;
  let agent: ReturnType<typeof createAgent>;

  beforeAll(async () => {
    place = await databasePlace();
    const environment = await environmentFor(place, {
      HOMEPORT_AUTH_FAILURE_LIMIT: String(FAILURES),
      HOMEPORT_INITIAL_CREDENTIAL: `${OWNER.username}:${OWNER.password}`,
      HOMEPORT_RESOLVERS: '127.0.0.1:9',
    });
    server = await serve(environment);
    agent = createAgent(readFileSync(ownCertificateFile(place.settings.dataDir), 'utf8'));
    const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
    owner = createClient(parts, OWNER);
    guesser = createClient(parts, { username: crypto.randomUUID(), password: 'wrong' });
    stranger = createClient(parts);
    await takeWrites(place, server, false);
  });
  afterAll(async () => {
    server.process.kill('SIGKILL');
    await server.ended;
    await agent.close();
    await place.remove();
  });

  /** The statuses of so many requests, one after the other. */
  async function statuses(count: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
    const all: number[] = [];
    for (let asked = 0; asked < count; asked++) all.push((await ask()).status);
    return all;
  }

  test('every read is answered, /v1/status too', async () => {
    // Connections that the server of the database cut are replaced after they failed once.
    await expect.poll(async () => (await stranger.get('/status')).status).toBe(200);
    await expect.poll(async () => (await owner.get('/user')).status).toBe(200);
    expect(new Set(await statuses(READS, () => stranger.get('/status')))).toEqual(new Set([200]));
    expect(new Set(await statuses(READS, () => owner.get('/user')))).toEqual(new Set([200]));
    expect(server.stderr().match(/counted in memory/g)).toHaveLength(1);
  });

  test('failed authentications are limited all the same', async () => {
    const answered = await statuses(FAILURES + 10, () => guesser.get('/user'));
    // A new minute begins a new window.
    expect(answered.filter((status) => status === 401).length).toBeLessThanOrEqual(2 * FAILURES);
    const again = await statuses(FAILURES + 10, () => guesser.get('/user'));
    expect([...answered, ...again]).toContain(429);
  });

  test('it recovers, and SIGTERM ends it when the database refuses writes again', async () => {
    await takeWrites(place, server, true);
    await expect
      .poll(async () => {
        await stranger.get('/status');
        // Each takes a share of another window, or the server would ask the database once in many requests.
        await guesser.get('/user');
        await sleep(200);
        return server.stderr();
      })
      .toContain('counted in the database again');
    await takeWrites(place, server, false);
    await owner.get('/user');
    server.process.kill('SIGTERM');
    const { code } = await server.ended;
    expect(code === 0 || code === 1).toBe(true);
  });
});

onlyInLong(onlyOn('sqlite', test.runIf(process.platform === 'linux')))(
  'SIGTERM ends a server whose disk filled before it could write down what it knows',
  async () => {
    const place = await databasePlace();
    const environment = await environmentFor(place, {
      HOMEPORT_INITIAL_CREDENTIAL: `${OWNER.username}:${OWNER.password}`,
      HOMEPORT_RESOLVERS: '127.0.0.1:9',
    });
    const server = await serve(environment);
    const agent = createAgent(readFileSync(ownCertificateFile(place.settings.dataDir), 'utf8'));
    const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
    const owner = createClient(parts, OWNER);
    await takeWrites(place, server, false);
    expect((await owner.get('/user')).status).toBe(200);
    await agent.close();
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('homeport: stopped with errors: ');
    expect(stderr).toContain('last uses of credentials');
    // Everything was released: the next start finds nothing of it in its way.
    const next = begin(environment, 'serve');
    await next.printed('Ctrl-C ends it.');
    next.process.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
    await place.remove();
  },
);
