import { findPostgres, startPostgres } from '../test/servers/postgres-server.ts';
import { get, type Load, run } from './measure/load.ts';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- postgres`: the processor time of Homeport's process for a request on PostgreSQL, beside the same on SQLite, which runs
 * its statements in the process itself. The API has a process of its own here, so no websites are created meanwhile.
 */
const INSTALLS = 1_000;
const LIST = 100;
const ROUNDS = 5;
const SECONDS = 2;
const report = createReport('postgres');

interface Side {
  server: ServedHomeport;
  seeded: Seeded;
}

async function start(folder: string, databaseUrl: string | null): Promise<Side> {
  const seeded = await seedAccount({ databaseUrl, dataDir: folder }, INSTALLS);
  return { server: await serveHomeport(folder, databaseUrl ?? undefined, {}, ['--only', 'api']), seeded };
}

const creating =
  (path: string) =>
  ({ server, seeded }: Side): Load => ({
    ...get(server, path, seeded.authorization),
    expect: 201,
    next: () => ({
      method: 'POST',
      path,
      headers: { authorization: seeded.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: `i${crypto.randomUUID().replaceAll('-', '')}`,
        account_id: seeded.accountId,
      }),
    }),
  });

const LOADS: { what: string; atMost: number; load: (side: Side) => Load }[] = [
  {
    what: `GET /installs?limit=${LIST}`,
    atMost: 1.1,
    load: ({ server, seeded }) => get(server, `/v1/installs?limit=${LIST}`, seeded.authorization),
  },
  { what: 'POST /sites', atMost: 1.55, load: creating('/v1/sites') },
  { what: 'POST /installs', atMost: 1.55, load: creating('/v1/installs') },
];

const binaries = findPostgres();
if (binaries === undefined) {
  process.stderr.write('This part needs PostgreSQL.\n');
  process.exit(1);
}
const postgres = await startPostgres(binaries);
const folders = [temporaryFolder(), temporaryFolder()];
try {
  report.part('PostgreSQL, processor time of Homeport beside SQLite');
  const [own, peer] = folders.map(({ path }) => path);
  const sides = [await start(own ?? '', postgres.url), await start(peer ?? '', null)];
  for (const { what, atMost, load } of LOADS) {
    const costs: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const cost: number[] = [];
      for (const side of sides) cost.push((await run(load(side), SECONDS)).cpuMicros);
      costs.push(cost);
    }
    const of = (at: number) => median(costs.map((cost) => cost[at] ?? 0)).toFixed(0);
    report.figure({
      what,
      value: median(costs.map(([onPostgres = 0, onSqlite = 1]) => onPostgres / onSqlite)),
      unit: 'ratio',
      measured: `${of(0)} µs`,
      beside: `SQLite ${of(1)} µs`,
      goal: { atMost },
    });
  }
  for (const { server } of sides) await server.stop();
} finally {
  for (const folder of folders) folder.remove();
  await postgres.stop();
}
report.end();
report.finish();
