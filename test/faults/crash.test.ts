import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Agent } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { layoutOf } from '../../src/hosting/embedded/host-folder/layout.ts';
import { type Answer, type Client, createAgent, createClient, text } from '../client.ts';
import { domainName, publicKey } from '../contract/resource-set.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { installName } from '../homeport.ts';
import { rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';

const ROUNDS = rounds(1, 10);
/** A server is killed somewhere in this time after it began to take requests. What it accepted must be worked off. */
const LIFE_MS = { least: rounds(50, 200), most: rounds(200, 800) };
const WRITERS = rounds(2, 6);
/** A user can have 1,000. Those whose request a kill left without an answer are beside these. */
const MOST_KEYS = 900;
const CREDENTIAL = { username: crypto.randomUUID(), password: 'for-the-crash-test-only' };

let place: DatabasePlace;
let port: number;
let server: ChildProcess | undefined;
let complaints = '';

beforeAll(async () => {
  place = await databasePlace();
  port = await freePort();
});
afterAll(async () => {
  if (server && server.exitCode === null) server.kill('SIGKILL');
  await place.remove();
});

/** Starts the program as an operator would, and waits until it answers. */
async function startServer(): Promise<ChildProcess> {
  const { databaseUrl, dataDir } = place.settings;
  const program = join(import.meta.dirname, '../../bin/homeport.mjs');
  const child = spawn(process.execPath, [program, 'serve'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOMEPORT_DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
      HOMEPORT_LISTEN: `127.0.0.1:${port}`,
      HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
      HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
      HOMEPORT_EMBEDDED_PHP_MB: '0',
      HOMEPORT_INITIAL_CREDENTIAL: `${CREDENTIAL.username}:${CREDENTIAL.password}`,
      HOMEPORT_RATE_LIMIT: '0',
      HOMEPORT_LOG_LEVEL: 'error',
    },
  });
  server = child;
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${complaints}`);
    if (await answers()) return child;
    await sleep(20);
  }
}

/** Whether the server answers, and knows who asks. */
async function answers(): Promise<boolean> {
  if (!existsSync(ownCertificateFile(place.settings.dataDir))) return false;
  const { client, agent } = connect();
  const answer = await client.get('/user').catch(() => undefined);
  await agent.destroy();
  return answer?.status === 200;
}

function connect(): { client: Client; agent: Agent } {
  const agent = createAgent(readFileSync(ownCertificateFile(place.settings.dataDir), 'utf8'));
  const parts = { origin: `https://localhost:${port}`, agent, conformance: () => undefined };
  return { client: createClient(parts, CREDENTIAL), agent };
}

/** The acknowledged results by path. A request without a response leaves the result open. */
class Ledger {
  readonly there = new Set<string>();
  readonly gone = new Set<string>();
  readonly open = new Set<string>();
  get keys(): number {
    return [...this.there].filter((path) => path.startsWith('/ssh_keys/')).length;
  }
}

/** Writes as fast as answers come, until there are none any more. */
async function write(client: Client, accountId: string, ledger: Ledger): Promise<void> {
  const mine: string[] = [];
  const create = async (list: string, body: object): Promise<string> => {
    const answer = await client.post(list, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const path = `${list}/${text(answer.body, list === '/ssh_keys' ? 'uuid' : 'id')}`;
    ledger.there.add(path);
    return path;
  };
  const remove = async (path: string): Promise<void> => {
    ledger.there.delete(path);
    ledger.open.add(path);
    const answer = await client.delete(path);
    expect(answer.status, JSON.stringify(answer.body)).toBe(204);
    ledger.open.delete(path);
    ledger.gone.add(path);
  };
  try {
    for (;;) {
      const site = await create('/sites', { name: 'Site', account_id: accountId });
      const install = await create('/installs', {
        name: installName(),
        account_id: accountId,
        site_id: site.replace('/sites/', ''),
        environment: 'production',
      });
      const domain = await create(`${install}/domains`, { name: domainName() });
      const key = await create('/ssh_keys', { public_key: publicKey() });
      mine.push(install);
      if (Math.random() < 0.3 || ledger.keys > MOST_KEYS) await remove(key);
      if (Math.random() < 0.3) await remove(domain);
      if (Math.random() < 0.3)
        await remove(mine.splice(Math.floor(Math.random() * mine.length), 1)[0] ?? install);
    }
  } catch (error) {
    // The server is dead, as it should be; anything else is a fault.
    if (!isConnectionError(error)) throw error;
  }
}

function isConnectionError(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_DESTROYED'].includes(
    String(code),
  );
}

/** Every item of a list, page by page. */
async function all(client: Client, list: string): Promise<string[]> {
  const paths: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const answer: Answer = await client.get(`${list}?limit=100&offset=${offset}`);
    const { results = [], count } = Object(answer.body);
    for (const item of results) paths.push(`${list}/${item.uuid ?? item.id}`);
    if (results.length < 100) {
      expect(paths.length, list).toBe(count);
      return paths;
    }
  }
}

/** The number of jobs that ran at an earlier kill and have not been done since. */
async function suspects({ reader }: Database): Promise<number> {
  const rows = await reader
    .selectFrom('job_deaths')
    .innerJoin('jobs', 'jobs.id', 'job_deaths.job_id')
    .select('jobs.id')
    .where('jobs.state', 'in', ['queued', 'running'])
    .execute();
  return rows.length;
}

async function expectNothingHalf(database: Database): Promise<void> {
  const { reader } = database;
  const accounts = await reader
    .selectFrom('accounts')
    .select(['id', 'site_count', 'install_count'])
    .execute();
  for (const { id, site_count, install_count } of accounts) {
    const sites = await reader.selectFrom('sites').select('id').where('account_id', '=', id).execute();
    const installs = await reader.selectFrom('installs').select('id').where('account_id', '=', id).execute();
    expect({ site_count, install_count }).toEqual({
      site_count: sites.length,
      install_count: installs.length,
    });
  }
  const cnames = await sql<{ id: string; count: number }>`
    select installs.id, count(domains.id) as count
    from installs left join domains on domains.install_id = installs.id and domains.is_cname
    group by installs.id having count(domains.id) <> 1`.execute(reader);
  expect(cnames.rows).toEqual([]);
  const primaries = await sql<{ id: string }>`
    select installs.id from installs left join domains on domains.install_id = installs.id and domains.is_primary
    group by installs.id having count(domains.id) <> 1`.execute(reader);
  expect(primaries.rows).toEqual([]);
  const jobs = await reader
    .selectFrom('jobs')
    .select(['kind', 'state', 'error'])
    .where('state', 'not in', ['succeeded', 'cancelled'])
    .execute();
  expect(jobs).toEqual([]);
  const installs = await reader.selectFrom('installs').select(['id', 'status']).execute();
  expect(installs.filter(({ status }) => status !== 'active')).toEqual([]);
  const websites = readdirSync(layoutOf(join(place.settings.dataDir, 'host')).installs);
  expect(websites.sort()).toEqual(installs.map(({ id }) => id).sort());
}

it('acknowledged writes survive kill -9, nothing is partial, and every job ends', async () => {
  const ledger = new Ledger();
  let accountId = '';
  for (let round = 0; round < ROUNDS; round++) {
    const child = await startServer();
    const { client, agent } = connect();
    if (accountId === '') accountId = text((await client.get('/accounts')).body, 'results', 0, 'id');
    const before = ledger.there.size;
    const writers = Array.from({ length: WRITERS }, () => write(client, accountId, ledger));
    // On a busy machine the first answer may take longer than a server is left alive.
    await expect.poll(() => ledger.there.size, { timeout: 30_000 }).toBeGreaterThan(before);
    await sleep(LIFE_MS.least + Math.random() * (LIFE_MS.most - LIFE_MS.least));
    const dead = once(child, 'exit');
    // A job whose server is killed twice would be set aside.
    const database = openDatabase(place.settings, silent);
    await expect.poll(() => suspects(database), { timeout: 60_000, interval: 5 }).toBe(0);
    child.kill('SIGKILL');
    await dead;
    await database.close();
    await Promise.all(writers);
    await agent.destroy();
    expect(ledger.there.size, 'the round wrote').toBeGreaterThan(before);
  }

  const last = await startServer();
  const { client, agent } = connect();
  const lists = [await all(client, '/sites'), await all(client, '/installs'), await all(client, '/ssh_keys')];
  const listed = new Set(lists.flat());
  for (const path of ledger.there) {
    const [, list = '', , domains] = path.split('/');
    const owner = `/${path.split('/').slice(1, 3).join('/')}`;
    // With an install its domains are gone.
    if (domains !== undefined && !ledger.there.has(owner)) continue;
    if (domains === undefined && list !== '')
      expect(listed.has(path), `${path} was answered with 201`).toBe(true);
    else expect((await client.get(path)).status, `${path} was answered with 201`).toBe(200);
  }
  for (const path of ledger.gone) expect(listed.has(path), `${path} was answered with 204`).toBe(false);

  const database = openDatabase(place.settings, silent);
  const unfinished = () =>
    database.reader.selectFrom('jobs').select('id').where('state', 'in', ['queued', 'running']).execute();
  await expect.poll(async () => (await unfinished()).length, { timeout: 60_000, interval: 200 }).toBe(0);
  await expectNothingHalf(database);
  await database.close();

  await agent.destroy();
  const ended = once(last, 'exit');
  last.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(
    complaints.split('\n').filter((line) => line !== '' && !line.startsWith('homeport: finishing')),
  ).toEqual([]);
}, 600_000);
