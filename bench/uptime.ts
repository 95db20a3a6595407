import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pino } from 'pino';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { readConfig } from '../src/config/config.ts';
import { openDatabase } from '../src/database/open.ts';
import { websiteWatch } from '../src/features/uptime/watch.ts';
import { MINUTE_MS } from '../src/lib/durations.ts';
import { systemRandomness } from '../src/lib/ids.ts';
import { manualClock } from '../test/manual-clock.ts';
import { runningJob } from '../test/running-job.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { seedAccount } from './measure/seed.ts';
import { median, shownMs } from './measure/units.ts';

/**
 * `npm run bench -- uptime`: the processor time of the checks of 500 websites in a minute, with the database. The limit is 1 % of a core.
 * All websites use HTTPS, the cache has no page of them, and a tenth is asked for a page. Runs on SQLite, or on the PostgreSQL of
 * HOMEPORT_DATABASE_URL, which should be empty.
 */
const WEBSITES = 500;
/** Minutes. The first ones compile and fill caches. */
const WARM_UP = 5;
const MINUTES = 20;
const BUDGET_MS = MINUTE_MS / 100;

const log = pino({ level: 'silent' });
const report = createReport('uptime');
const folder = temporaryFolder();
const settings = { databaseUrl: process.env.HOMEPORT_DATABASE_URL ?? null, dataDir: folder.path };
const edge = fork(join(import.meta.dirname, 'servers/uptime-edge.ts'));
try {
  const [told] = await once(edge, 'message');
  const ports = Value.Parse(Type.Object({ http: Type.Number(), https: Type.Number() }), told);
  await seedAccount(settings, WEBSITES);
  const database = openDatabase(settings, log);
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ environment: 'production' }).execute();
    await queries.updateTable('domains').set({ network_status: 'ACTIVE' }).execute();
    const domains = await queries.selectFrom('domains').select('id').execute();
    await queries
      .insertInto('certificates')
      .values(
        domains.map(({ id }) => ({
          ...{
            domain_id: id,
            source: 'LETS_ENCRYPT' as const,
            chain: '',
            sealed_key: '',
            directory_url: null,
          },
          ...{
            not_before: '2026-01-01T00:00:00.000Z',
            not_after: '2030-01-01T00:00:00.000Z',
            order_url: null,
          },
          ...{ renewal_id: null, renew_at: null, upload_id: null, warned_days: null },
          created_at: '2026-01-01T00:00:00.000Z',
        })),
      )
      .execute();
  });
  const clock = manualClock(new Date());
  const at = (port: number) => ({ host: '127.0.0.1', port });
  const watch = websiteWatch(
    { config: readConfig({ HOMEPORT_DATA_DIR: folder.path }), database, clock, random: systemRandomness },
    {
      host: { readLog: async () => ({ lines: [], cursor: null, end: '' }) },
      embedded: () => ({ edgeHttp: at(ports.http), edgeHttps: at(ports.https), ssh: at(1) }),
      // As for Linux hosts, which are asked for more pages.
      pageEvery: 10,
    },
  );
  const job = runningJob({ log });
  const spentMs: number[] = [];
  for (let minute = 0; minute < WARM_UP + MINUTES; minute++) {
    const before = process.cpuUsage();
    const completion = await watch.run({}, job);
    if (completion) await database.write(completion);
    const { user, system } = process.cpuUsage(before);
    if (minute >= WARM_UP) spentMs.push((user + system) / 1_000);
    clock.advance(MINUTE_MS);
  }
  const { up } = await database.reader
    .selectFrom('uptime_spans')
    .select((eb) => eb.fn.countAll<number>().as('up'))
    .where('is_up', '=', true)
    .executeTakeFirstOrThrow();
  await database.close();
  if (Number(up) !== WEBSITES) throw new Error(`${up} of ${WEBSITES} websites were up`);
  report.part(`Checks of ${WEBSITES} websites in a minute`);
  report.figure({
    what: 'processor time of the server, to 1 % of a core',
    value: median(spentMs) / BUDGET_MS,
    unit: 'ratio',
    measured: shownMs(median(spentMs)),
    beside: shownMs(BUDGET_MS),
    goal: { atMost: 1 },
  });
  report.end();
  report.finish();
} finally {
  edge.disconnect();
  folder.remove();
}
