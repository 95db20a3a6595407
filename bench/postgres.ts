import { installSchema } from '../src/features/websites/installs/schema.ts';
import { findPostgres, startPostgres } from '../test/servers/postgres-server.ts';
import { serveBare } from './measure/bare.ts';
import { answerOf, get, interleaved, type Load } from './measure/load.ts';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';

/**
 * `npm run bench -- postgres`: the processor time of Homeport's process for a request on PostgreSQL, beside the same on SQLite, which runs
 * its statements in the process itself. The API has a process of its own here, so no websites are created meanwhile. Also beside bare
 * Fastify that answers with one install over TLS: it tells how fast the machine is.
 */
const INSTALLS = 1_000;
const LIST = 100;
const report = createReport('postgres');

interface Side {
  server: ServedHomeport;
  seeded: Seeded;
}

async function start(folder: string, databaseUrl: string | null): Promise<Side> {
  const seeded = await seedAccount({ databaseUrl, dataDir: folder }, INSTALLS);
  return { server: await serveHomeport(folder, databaseUrl ?? undefined, {}, ['--only', 'api']), seeded };
}

const creating = ({ server, seeded }: Side): Load => ({
  ...get(server, '/v1/installs', seeded.authorization),
  expect: 201,
  next: () => ({
    method: 'POST',
    path: '/v1/installs',
    headers: { authorization: seeded.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `i${crypto.randomUUID().replaceAll('-', '')}`,
      account_id: seeded.accountId,
    }),
  }),
});

/**
 * `atMost`: times SQLite. `mostBare`: times bare Fastify, as much as 900 and 600 µs are on a machine where that takes 16 µs.
 */
const LOADS: { what: string; atMost: number; mostBare: number; load: (side: Side) => Load }[] = [
  {
    what: `GET /installs?limit=${LIST}`,
    ...{ atMost: 1.1, mostBare: 56 },
    load: ({ server, seeded }) => get(server, `/v1/installs?limit=${LIST}`, seeded.authorization),
  },
  { what: 'POST /installs', atMost: 1.55, mostBare: 37.5, load: creating },
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
  const [side] = sides;
  if (side === undefined) throw new Error('no server');
  const path = `/v1/installs/${side.seeded.installIds[0]}`;
  const answer = await answerOf(side.server, path, side.seeded.authorization);
  const bare = await serveBare(side.server, installSchema, answer, own ?? '');
  for (const { what, atMost, mostBare, load } of LOADS) {
    const [onPostgres, onSqlite, alone] = await interleaved([...sides.map(load), get(bare, path)]);
    if (!onPostgres || !onSqlite || !alone) continue;
    report.figure({
      what,
      value: onPostgres.cpuMicros / onSqlite.cpuMicros,
      unit: 'ratio',
      measured: `${onPostgres.cpuMicros.toFixed(0)} µs`,
      beside: `SQLite ${onSqlite.cpuMicros.toFixed(0)} µs`,
      goal: { atMost },
    });
    report.figure({
      what: `${what}, beside bare Fastify with one install`,
      value: onPostgres.cpuMicros / alone.cpuMicros,
      unit: 'ratio',
      beside: `${alone.cpuMicros.toFixed(0)} µs`,
      goal: { atMost: mostBare },
    });
  }
  await bare.stop();
  for (const { server } of sides) await server.stop();
} finally {
  for (const folder of folders) folder.remove();
  await postgres.stop();
}
report.end();
report.finish();
