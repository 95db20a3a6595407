import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { SQLITE_FILE } from '../database/open.ts';
import { wideReads } from '../database/wide-reads.fixture.ts';
import { everySchedule, KNOWN_SCHEDULED, linuxFleet } from './every-schedule.fixture.ts';

// Starts a server, takes a slot of each of its schedules, runs their jobs, and reads the metrics. Then looks how SQLite would run each of
// their statements. Plans need no rows, because no database of Homeport has statistics. A new schedule is among them.

let homeport: TestHomeport;
let clock: ManualClock;
let metrics: string;
let fleet: Awaited<ReturnType<typeof linuxFleet>>;
const prepared = new Set<string>();

beforeAll(async () => {
  fleet = await linuxFleet(20);
  const { prepare } = Sqlite.prototype;
  vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, text: string) {
    prepared.add(text);
    return prepare.call(this, text);
  });
  clock = manualClock(new Date());
  metrics = `127.0.0.1:${await freePort()}`;
  homeport = await startTestHomeport({
    ...{ place: fleet.place, clock, schedules: true },
    environment: { HOMEPORT_HOST: 'linux', HOMEPORT_METRICS_LISTEN: metrics },
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await homeport?.remove();
  await fleet?.place.remove();
});

it('no statement of the start, of schedules or of metrics reads all installs at once, or what they have', async () => {
  await everySchedule(homeport, clock);
  expect((await fetch(`http://${metrics}/metrics`)).status).toBe(200);
  const database = new Sqlite(join(fleet.place.settings.dataDir, SQLITE_FILE), { readonly: true });
  const known = new Set<string>();
  const wide: string[] = [];
  for (const statement of prepared) {
    if (!/^(select|with|update|delete) /.test(statement) || statement.includes('sqlite_')) continue;
    const reads = wideReads(database, statement);
    if (reads.length === 0) continue;
    const reason = Object.keys(KNOWN_SCHEDULED).find((start) => statement.startsWith(start));
    if (reason === undefined) wide.push(`${statement}: ${reads.join(', ')}`);
    else known.add(reason);
  }
  database.close();
  expect(wide).toEqual([]);
  expect([...known].sort()).toEqual(Object.keys(KNOWN_SCHEDULED).sort());
});
