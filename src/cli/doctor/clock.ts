import { sql } from 'kysely';
import type { Database } from '../../database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'clock';
const EARLIEST = Date.UTC(2025, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);
/** Leases of jobs tolerate 4 s (jobs/worker.ts). */
const MOST_APART_MS = 4_000;
const WARN_APART_MS = 1_000;
/** Processes on one machine agree to the millisecond; on several, less. */
const FUTURE_MS = 10_000;
const MOST_JUMP_MS = 1_000;
const SYNCHRONISE = 'Synchronise the clock with NTP: "timedatectl set-ntp true" on Debian.';

/** Milliseconds from any origin, never set back: `performance.now`. */
export type Monotonic = () => number;

/** Watches for changes of the clock; the returned function gives the change in ms. */
export function watchClock(clock: Clock, monotonic: Monotonic): () => number {
  const origin = clock.now().getTime() - monotonic();
  return () => clock.now().getTime() - monotonic() - origin;
}

/** Checks the clock, on which leases, expiry and rate limits depend, also beside that of the database. */
export async function checkClock(
  clock: Clock,
  jumped: () => number,
  database: Database | null,
  hasTables: boolean,
): Promise<Finding> {
  const now = clock.now();
  if (now.getTime() < EARLIEST || now.getTime() > LATEST) {
    return problem(CHECK, `The clock of this machine says ${now.toISOString()}.`, SYNCHRONISE);
  }
  if (Math.abs(jumped()) > MOST_JUMP_MS) {
    return warning(
      CHECK,
      `The clock was set by ${seconds(jumped())} while doctor ran other checks.`,
      'Adjust it slowly, as NTP does.',
    );
  }
  const future = database === null || !hasTables ? 0 : await newestEntry(database, now);
  if (future > FUTURE_MS) {
    return problem(
      CHECK,
      `The newest entry in the database is ${seconds(future)} ahead of this machine's clock.`,
      `The clock was set back, or that of another machine is ahead. ${SYNCHRONISE}`,
    );
  }
  if (database?.dialect !== 'postgres') return ok(CHECK, `It is ${now.toISOString()}.`);
  return judgeDistance(await distanceTo(database, clock));
}

/** `apart`: by how much the database's clock is ahead, in ms. */
export function judgeDistance(apart: number): Finding {
  if (Math.abs(apart) <= WARN_APART_MS) return ok(CHECK, 'It agrees with the clock of the database.');
  const message = `It is ${seconds(apart)} ${apart > 0 ? 'behind' : 'ahead of'} the clock of the database.`;
  return Math.abs(apart) > MOST_APART_MS
    ? problem(CHECK, message, SYNCHRONISE)
    : warning(CHECK, message, SYNCHRONISE);
}

/** The query takes time, so its answer counts for the middle of it. */
async function distanceTo({ reader }: Database, clock: Clock): Promise<number> {
  const asked = clock.now().getTime();
  const { rows } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(reader);
  const answered = clock.now().getTime();
  return Date.parse(rows[0]?.now ?? '') - (asked + answered) / 2;
}

/** Milliseconds from `now` to the newest stored time, if that is ahead. */
async function newestEntry({ reader }: Database, now: Date): Promise<number> {
  const [seen, created] = await Promise.all([
    reader.selectFrom('workers').select('seen_at as at').orderBy('seen_at', 'desc').limit(1).execute(),
    reader.selectFrom('jobs').select('created_at as at').orderBy('seq', 'desc').limit(1).execute(),
  ]);
  const times = [...seen, ...created].map(({ at }) => Date.parse(at));
  return Math.max(0, ...times) - now.getTime();
}

function seconds(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(1)} s`;
}
