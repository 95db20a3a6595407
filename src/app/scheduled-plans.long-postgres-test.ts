import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { type WatchedStatements, watchStatements } from '../database/postgres-plans.fixture.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { everySchedule, linuxFleet } from './every-schedule.fixture.ts';

// As scheduled-plans.test.ts, on PostgreSQL: counts the rows that it reads for each statement of the start, of schedules and of metrics.

const INSTALLS = 11_000;
/** Of one statement: 500 rows, or a range of 200 installs, with what belongs to each. */
const MOST_ROWS = 2_500;

/** Reading all of so few rows is cheaper than looking up some of them, but not in a large fleet. */
const AS_IF_LARGE = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

/** Statements that read more in a larger fleet, by their beginning, and why. One that no longer does must be taken out. */
const KNOWN: Record<string, string> = {
  'select count(*) as "count" from (select "domain_id" from "domain_looks" limit': 'is limited',
  'select "install"."seq" from "installs" as "install" where "install"."status" = \'active\'':
    'passes 100,000 entries of an index at most',
};

const TWO_MINUTES_MS = 2 * MINUTE_MS;

let homeport: TestHomeport;
let clock: ManualClock;
let metrics: string;
let fleet: Awaited<ReturnType<typeof linuxFleet>>;
let statements: WatchedStatements;

beforeAll(async () => {
  fleet = await linuxFleet(INSTALLS);
  statements = await watchStatements(fleet.place.settings.databaseUrl ?? '', AS_IF_LARGE);
  // In odd minutes, the second half of the websites is checked.
  clock = manualClock(new Date(Math.ceil(Date.now() / TWO_MINUTES_MS) * TWO_MINUTES_MS + MINUTE_MS));
  metrics = `127.0.0.1:${await freePort()}`;
  homeport = await startTestHomeport({
    ...{ place: fleet.place, clock, schedules: true },
    environment: { HOMEPORT_HOST: 'linux', HOMEPORT_METRICS_LISTEN: metrics },
  });
});
afterAll(async () => {
  await statements?.stop();
  await homeport?.remove();
  await fleet?.place.remove();
});

it('no statement of the start, of schedules or of metrics reads a large part of all installs, or of what they have', async () => {
  await everySchedule(homeport, clock);
  expect((await fetch(`http://${metrics}/metrics`)).status).toBe(200);
  const known = new Set<string>();
  const wide: string[] = [];
  let seen = 0;
  for (const [text, values] of statements.take()) {
    if (!/^(select|with|update|delete) /.test(text)) continue;
    seen += 1;
    for (const one of new Set([values.at(0) ?? [], values.at(-1) ?? []])) {
      const { rows, steps } = await statements.rowsRead(text, one, MOST_ROWS / 4);
      if (rows <= MOST_ROWS) continue;
      const reason = Object.keys(KNOWN).find((start) => text.startsWith(start));
      if (reason === undefined) wide.push(`${text}: ${rows} rows, ${steps.join(', ')}`);
      else known.add(reason);
    }
  }
  expect(seen).toBeGreaterThan(100);
  expect(wide).toEqual([]);
  expect([...known].sort()).toEqual(Object.keys(KNOWN).sort());
});
