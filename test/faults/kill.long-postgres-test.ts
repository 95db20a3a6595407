import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Parse } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createQueue } from '../../src/jobs/queue.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { openTestDatabase } from '../database.ts';
import { rounds } from '../rounds.ts';
import { createEffectJob, JournalEntry, type Moment } from './kill-job.ts';

const JOBS = rounds(100, 600);
const LANES = 20;
const WORK_MS = 40;
/** A worker is killed each time so many more jobs are done, so a slow machine sees as many kills as a fast one. */
const JOBS_PER_KILL = rounds(25, 40);
/** Jobs whose process is killed at a chosen moment, besides. */
const KILLED = new Map<number, Moment>([
  [3, 'in run'],
  [35, 'in the transaction'],
  [67, 'after the commit'],
]);

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let files: string;
let journals: string;
let marks: string;

beforeAll(async () => {
  database = await openTestDatabase();
  files = join(database.place.settings.dataDir, 'files');
  journals = join(database.place.settings.dataDir, 'journals');
  marks = join(database.place.settings.dataDir, 'marks');
  mkdirSync(files);
  mkdirSync(marks);
  mkdirSync(journals);
});
afterAll(() => database.remove());

/** A worker process, and what is known of its life afterwards. */
interface WorkerProcess {
  process: ChildProcess;
  journal: string;
  /** Resolves when it is gone, with the machine's monotonic time in milliseconds. */
  gone: Promise<number>;
  complaints: () => string;
}

let started = 0;

function startWorker(): WorkerProcess {
  const journal = join(journals, `${++started}.jsonl`);
  const settings = JSON.stringify({ ...database.place.settings, files, marks, journal });
  const script = join(import.meta.dirname, 'kill-worker.ts');
  const child = spawn(process.execPath, [script, settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const gone = once(child, 'exit').then(monotonicMs);
  return { process: child, journal, gone, complaints: () => errors };
}

/** Workers that neither ended nor were killed. */
function running(workers: WorkerProcess[]): WorkerProcess[] {
  return workers.filter(({ process }) => !process.killed && process.signalCode === null);
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

async function countByState(): Promise<Record<string, number>> {
  const rows = await database.reader
    .selectFrom('jobs')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

/** Whether a job that ran at a kill has not been done since. */
async function hasSuspects(): Promise<boolean> {
  const suspects = await database.reader.selectFrom('job_deaths').select('job_id').limit(1).execute();
  return suspects.length > 0;
}

/** One attempt as the journals have it. A process that was killed never wrote the end: its death was the end. */
interface Interval {
  n: number;
  lane: string;
  attempt: number;
  begin: number;
  end: number;
}

function readIntervals(journal: string, goneAt: number): Interval[] {
  if (!existsSync(journal)) return [];
  const entries = readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Parse(JournalEntry, JSON.parse(line)));
  return entries
    .filter((entry) => entry.what === 'begin')
    .map(({ n, lane, attempt, at }) => {
      const end = entries.find((entry) => entry.what === 'end' && entry.n === n && entry.attempt === attempt);
      return { n, lane, attempt, begin: at, end: end?.at ?? goneAt };
    });
}

it('jobs survive kill -9 of their workers: all are done, each effect is there once, no lane overlaps', async () => {
  const queue = createQueue(database, systemClock, systemRandomness);
  const nothing = () => {};
  const kind = createEffectJob({ write: nothing, record: nothing, kill: nothing });
  await database.write(async (transaction) => {
    // No unique constraint, so a repeated effect appears twice.
    await sql`create table effects (n integer not null)`.execute(transaction.queries);
    for (let n = 0; n < JOBS; n++) {
      const lane = `lane ${n % LANES}`;
      const payload = { n, lane, workMs: WORK_MS, killed: KILLED.get(n) ?? null };
      await queue.enqueue(transaction, kind, { payload, lane });
    }
  });

  const all = [startWorker(), startWorker()];
  let kills = 0;
  try {
    for (let done = 0; done < JOBS; ) {
      await sleep(20);
      const { succeeded = 0, ...others } = await countByState();
      // One that was set aside would never be done.
      expect(others).not.toHaveProperty('failed');
      done = succeeded;
      for (const worker of all) expect(worker.process.exitCode, worker.complaints()).toBe(null);
      // A job whose worker is killed twice would be set aside.
      if (done >= (kills + 1) * JOBS_PER_KILL && !(await hasSuspects())) {
        kills++;
        running(all)[0]?.process.kill('SIGKILL');
      }
      while (running(all).length < 2) all.push(startWorker());
    }
  } finally {
    for (const worker of running(all)) worker.process.kill('SIGKILL');
    await Promise.all(all.map((worker) => worker.gone));
  }

  expect(await countByState()).toEqual({ succeeded: JOBS });

  const effects = await sql<{ n: number }>`select n from effects order by n`.execute(database.reader);
  expect(effects.rows.map((row) => row.n)).toEqual(Array.from({ length: JOBS }, (_, n) => n));

  expect(readdirSync(files)).toHaveLength(JOBS);
  for (let n = 0; n < JOBS; n++) {
    expect(readFileSync(join(files, `${n}.txt`), 'utf8')).toBe(`whole ${n}`);
  }

  const intervals: Interval[] = [];
  for (const worker of all) {
    intervals.push(...readIntervals(worker.journal, await worker.gone));
  }
  expect(kills).toBeGreaterThanOrEqual(3);
  for (const [n, moment] of KILLED) {
    const killed = Number(readFileSync(join(marks, String(n)), 'utf8'));
    const last = Math.max(...intervals.filter((one) => one.n === n).map((one) => one.attempt));
    if (moment === 'after the commit') expect(last, 'what was committed is not done again').toBe(killed);
    else expect(last, `killed ${moment}, so done again`).toBeGreaterThan(killed);
  }
  for (let lane = 0; lane < LANES; lane++) {
    const ofLane = intervals
      .filter((interval) => interval.lane === `lane ${lane}`)
      .sort((a, b) => a.begin - b.begin);
    const order = ofLane.map((interval) => interval.n);
    expect(order, 'in the order they were asked for').toEqual(order.toSorted((a, b) => a - b));
    for (const [index, later] of ofLane.entries()) {
      const earlier = ofLane[index - 1];
      if (earlier === undefined) continue;
      expect(later.begin, JSON.stringify({ earlier, later })).toBeGreaterThanOrEqual(earlier.end);
    }
  }
}, 120_000);
