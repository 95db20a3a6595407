import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { checkSetAsideJobs } from '../../src/cli/doctor/set-aside-jobs.ts';
import { createQueue } from '../../src/jobs/queue.ts';
import { listSetAside } from '../../src/jobs/set-aside.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { openTestDatabase } from '../database.ts';
import { mostlyOn } from '../only-on.ts';
import { onlyInLong } from '../rounds.ts';
import { poisonJob } from './poison-job.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let journal: string;
const servers: ChildProcess[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
});
beforeEach(() => {
  journal = join(database.place.settings.dataDir, crypto.randomUUID());
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    const gone = once(server, 'exit');
    if (server.exitCode === null && server.signalCode === null && server.kill('SIGKILL')) await gone;
  }
  await database.write(({ queries }) => queries.deleteFrom('jobs').execute());
  await database.write(({ queries }) => queries.deleteFrom('rate_windows').execute());
});
afterAll(() => database.remove());

const queue = () => createQueue(database, systemClock, systemRandomness);
const kind = poisonJob(async () => {});

interface Asked {
  ends?: 'SIGSEGV' | 'SIGKILL';
  ms?: number;
  lane?: string;
}

/** Enqueues one job. */
function ask(name: string, { ends, ms = 0, lane }: Asked = {}): Promise<string> {
  return database.write((transaction) =>
    queue().enqueue(transaction, kind, {
      payload: { name, ends: ends ?? null, ms },
      lane: lane ?? null,
      account: crypto.randomUUID(),
    }),
  );
}

function startServer(): ChildProcess {
  const settings = JSON.stringify({ ...database.place.settings, journal });
  const script = join(import.meta.dirname, 'poison-worker.ts');
  const server = spawn(process.execPath, [script, settings], { stdio: ['ignore', 'ignore', 'inherit'] });
  servers.push(server);
  return server;
}

const hasDied = (server: ChildProcess) => server.exitCode !== null || server.signalCode !== null;

async function unfinished(): Promise<number> {
  const rows = await database.reader
    .selectFrom('jobs')
    .select('id')
    .where('state', 'in', ['queued', 'running'])
    .execute();
  return rows.length;
}

/**
 * Runs servers side by side as service managers do, which start each again, until nothing is left to do. Returns the signals that ended
 * them.
 */
async function serveUntilDone(count = 1): Promise<(string | null)[]> {
  const ended: (string | null)[] = [];
  const present = Array.from({ length: count }, startServer);
  while ((await unfinished()) > 0) {
    await sleep(20);
    for (const [index, server] of present.entries()) {
      if (!hasDied(server)) continue;
      ended.push(server.signalCode);
      if (ended.length > 6) throw new Error(`servers die at each start: ${ended.join(' ')}`);
      present[index] = startServer();
    }
  }
  expect(present.filter(hasDied), 'the last servers live').toEqual([]);
  return ended;
}

async function effects(): Promise<Record<string, number>> {
  const rows = await database.reader.selectFrom('rate_windows').select(['key', 'taken']).execute();
  return Object.fromEntries(rows.map(({ key, taken }) => [key, Number(taken)]));
}

function attemptsAt(name: string): number {
  if (!existsSync(journal)) return 0;
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line === name).length;
}

const GIVEN_UP =
  'given up: The server stopped each time this ran, so it is not tried again. Contact your provider.';

mostlyOn('sqlite', it)(
  'a job that ends the process at each run is set aside at the second death, and all others run',
  async () => {
    const poison = await ask('poison', { ends: 'SIGSEGV', ms: 300, lane: 'domain' });
    await ask('next of the lane', { lane: 'domain' });
    // They run at the first death, too.
    await ask('companion 1', { ms: 500 });
    await ask('companion 2', { ms: 500 });
    await ask('companion 3', { ms: 500 });

    expect(await serveUntilDone()).toEqual(['SIGSEGV', 'SIGSEGV']);

    expect(attemptsAt('poison')).toBe(2);
    expect(await effects()).toEqual({
      [`poison ${GIVEN_UP}`]: 1,
      'next of the lane succeeded': 1,
      'companion 1 succeeded': 1,
      'companion 2 succeeded': 1,
      'companion 3 succeeded': 1,
    });
    const job = await database.reader
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', poison)
      .executeTakeFirstOrThrow();
    expect(job).toMatchObject({ state: 'failed', reason_code: 'set_aside' });
    expect(job.error).toMatch(/these processes died while it ran: \S+:\d+ \(.*\), \S+:\d+ \(/);
    const aside = await listSetAside(database.reader);
    expect(aside).toMatchObject([{ id: poison, kind: 'poison', install: null, is_repeatable: false }]);
    expect(await checkSetAsideJobs(database)).toMatchObject({
      state: 'problem',
      message: expect.stringContaining(`poison (${poison})`),
      remedy: expect.stringContaining('homeport job'),
    });
  },
);

onlyInLong(it)('two such jobs are both set aside, and no job that ran beside them', async () => {
  await ask('poison 1', { ends: 'SIGKILL', ms: 300 });
  await ask('poison 2', { ends: 'SIGSEGV', ms: 400 });
  await ask('companion 1', { ms: 800 });
  await ask('companion 2', { ms: 800 });

  await serveUntilDone();

  for (const name of ['poison 1', 'poison 2']) expect(attemptsAt(name)).toBe(2);

  expect(await effects()).toEqual({
    [`poison 1 ${GIVEN_UP}`]: 1,
    [`poison 2 ${GIVEN_UP}`]: 1,
    'companion 1 succeeded': 1,
    'companion 2 succeeded': 1,
  });
});

mostlyOn('postgres', it)('several servers share what they know of deaths', async () => {
  await ask('poison', { ends: 'SIGKILL', ms: 300 });
  for (const n of [1, 2, 3, 4, 5]) await ask(`companion ${n}`, { ms: 500 });
  expect(await serveUntilDone(2)).toEqual(['SIGKILL', 'SIGKILL']);
  expect(attemptsAt('poison')).toBe(2);
  expect(await effects()).toEqual({
    [`poison ${GIVEN_UP}`]: 1,
    ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`companion ${n} succeeded`, 1])),
  });
});

onlyInLong(it)('the same work is not tried again for hours, so that no start repeats it', async () => {
  await ask('poison', { ends: 'SIGKILL', lane: 'same' });
  expect(await serveUntilDone()).toHaveLength(2);
  await ask('poison', { ends: 'SIGKILL', lane: 'same' });
  await ask('other', { lane: 'same' });
  expect(await serveUntilDone()).toEqual([]);
  expect(attemptsAt('poison')).toBe(2);
  expect(await effects()).toMatchObject({ 'other succeeded': 1 });
  expect(await listSetAside(database.reader)).toHaveLength(1);
});

onlyInLong(it)('a server that stops in order leaves no suspects, however often it does so', async () => {
  const id = await ask('long', { ms: 1_500 });
  const row = () =>
    database.reader.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  for (let stop = 0; stop < 2; stop++) {
    const server = startServer();
    while ((await row()).state !== 'running') await sleep(20);
    const gone = once(server, 'exit');
    server.kill('SIGTERM');
    await gone;
    expect(await database.reader.selectFrom('job_deaths').selectAll().execute()).toEqual([]);
  }
  expect(await serveUntilDone()).toEqual([]);
  expect(await effects()).toEqual({ 'long succeeded': 1 });
});
