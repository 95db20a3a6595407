import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SQLITE_FILE } from '../../src/database/open.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { field, text } from '../client.ts';
import { silent, temporaryFolder } from '../database.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyOn } from '../only-on.ts';
import { onlyInLong } from '../rounds.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../servers/postgres-server.ts';

const UNAVAILABLE = { status: 503, body: { message: 'Service temporarily unavailable' } };

/** The log by level. */
const lines: { level: number; msg: string }[] = [];
const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });

let homeport: TestHomeport;
let owner: Person;
let accountId: string;

/** The whole way from a request to a website, which a database that is back must allow again. */
async function expectAllWorks(): Promise<void> {
  expect((await homeport.anonymous.get('/status')).status).toBe(200);
  const created = await owner.client.post('/installs', { name: installName(), account_id: accountId });
  expect(created.status).toBe(201);
  const path = `/installs/${text(created.body, 'id')}`;
  await expect
    .poll(async () => field((await owner.client.get(path)).body, 'status'), {
      timeout: 30_000,
      interval: 100,
    })
    .toBe('active');
}

onlyOn('sqlite', describe)('a SQLite file that another process writes to', () => {
  let holder: ChildProcess | undefined;

  beforeAll(async () => {
    homeport = await startTestHomeport({ log });
    ({ owner, accountId } = await homeport.ownedAccount());
  });
  afterEach(() => letGo());
  afterAll(() => homeport.remove());

  /** Another process takes the only writer and keeps it until released. */
  async function hold(): Promise<void> {
    const script = `
      import Sqlite from 'better-sqlite3';
      const connection = new Sqlite(process.argv[1]);
      connection.exec('begin immediate');
      process.stdout.write('held');
      process.stdin.once('data', () => { connection.exec('rollback'); process.exit(0); });
    `;
    const file = join(homeport.place.settings.dataDir, SQLITE_FILE);
    const cwd = join(import.meta.dirname, '../..');
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, file], { cwd });
    holder = child;
    await once(child.stdout, 'data');
  }

  async function letGo(): Promise<void> {
    const child = holder;
    holder = undefined;
    if (!child) return;
    const gone = once(child, 'exit');
    child.stdin?.write('let go');
    await gone;
  }

  it('answers 503 to writers in the end, and takes them again as soon as it is free', async () => {
    await hold();
    const before = await owner.client.get('/sites');
    const writers = Array.from({ length: 5 }, async (_, index) => {
      await sleep(index * 300);
      return owner.client.post('/sites', { name: 'Refused', account_id: accountId });
    });
    for (const writer of writers) expect(await writer).toMatchObject(UNAVAILABLE);
    expect((await homeport.anonymous.get('/status')).status).toBe(200);
    expect((await owner.client.get('/sites')).body).toEqual(before.body);
    await letGo();
    await expectAllWorks();
  });
});

onlyOn('postgres', describe)('a PostgreSQL that goes away', () => {
  let server: PostgresServer;
  let folder: ReturnType<typeof temporaryFolder>;

  beforeAll(async () => {
    server = await startPostgres(findPostgres() ?? '');
    folder = temporaryFolder();
    const settings = { databaseUrl: server.url, dataDir: folder.path };
    homeport = await startTestHomeport({ log, place: { settings, remove: async () => {} } });
    ({ owner, accountId } = await homeport.ownedAccount());
  });
  afterAll(async () => {
    await homeport.remove();
    await server.stop();
    folder.remove();
  });

  it('answers 503 at once while it is away, and recovers automatically', async () => {
    let crashed = false;
    const statuses = new Set<number>();
    const busy = Array.from({ length: 4 }, async (_, index) => {
      while (!crashed) {
        const asked =
          index % 2 === 0
            ? owner.client.post('/sites', { name: 'Busy', account_id: accountId })
            : owner.client.get('/installs');
        statuses.add((await asked).status);
      }
    });
    await expect.poll(() => statuses).toEqual(new Set([200, 201]));
    await server.crash();
    await expect.poll(() => statuses.has(503)).toBe(true);
    crashed = true;
    await Promise.all(busy);
    expect(statuses).toEqual(new Set([200, 201, 503]));

    for (const ask of [
      () => homeport.anonymous.get('/status'),
      () => owner.client.get('/installs'),
      () => owner.client.get('/user'),
      () => owner.client.get(`/accounts/${accountId}`),
      () => owner.client.post('/sites', { name: 'Refused', account_id: accountId }),
    ]) {
      expect(await ask()).toMatchObject(UNAVAILABLE);
    }
    // Requests without queries still work.
    expect((await homeport.anonymous.get('/swagger')).status).toBe(200);
    expect((await homeport.anonymous.get('/user')).status).toBe(401);
    expect((await homeport.anonymous.get('/nothing')).status).toBe(404);

    await server.restart();
    await expectAllWorks();
    const sites = await owner.client.get('/sites');
    const rows = await homeport.platform.database.reader.selectFrom('sites').select('id').execute();
    expect(field(sites.body, 'count')).toBe(rows.length);
  });

  onlyInLong(it)(
    'is not waited for longer than the time-outs while it says nothing, and its connections are not used again',
    async () => {
      const database = openPostgres(server.url, silent, {
        timeouts: { connectMs: 2_000, statementMs: 2_000, replyMs: 4_000 },
      });
      await database.ping();
      await database.write(({ queries }) => sql`select 1`.execute(queries));
      server.freeze();
      try {
        const attempts = [
          () => database.ping(),
          () => sql`select 1`.execute(database.reader),
          () => database.write(({ queries }) => sql`select 1`.execute(queries)),
        ];
        for (const attempt of attempts) {
          await expect(attempt()).rejects.toThrow();
        }
      } finally {
        server.thaw();
      }
      for (let asked = 0; asked < 30; asked++) {
        const { rows } = await sql<{ one: number }>`select ${asked}::int as one`.execute(database.reader);
        expect(rows).toEqual([{ one: asked }]);
      }
      await database.close();
      await expectAllWorks();
    },
  );
});

it('logs faults that only an operator can fix', () => {
  expect(lines.some((line) => line.level >= 40)).toBe(true);
});
