import { Agent, request } from 'undici';
import { findPostgres, startPostgres } from '../test/servers/postgres-server.ts';
import { interleaved, type Load, type LoadResult } from './measure/load.ts';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';

/**
 * `npm run bench -- pages`: the cost of deep pages of a long list beside its first page, by offset and by cursor, on SQLite and on
 * PostgreSQL. Offsets in the second half are counted from the end, so the middle is the slowest.
 */
const MANY = 100_000;
const LIMIT = 100;
const DEEP = MANY - 1_000;
const report = createReport('pages');

/** The path of the page that a cursor reaches after `items` items. */
async function cursorAfter(
  server: ServedHomeport,
  { authorization }: Seeded,
  items: number,
): Promise<string> {
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  let path = `/v1/installs?limit=${LIMIT}&cursor=`;
  for (let read = 0; read < items; read += LIMIT) {
    const answer = await request(`${server.origin}${path}`, { dispatcher, headers: { authorization } });
    const { next } = Object(await answer.body.json());
    const { pathname, search } = new URL(String(next));
    path = `${pathname}${search}`;
  }
  await dispatcher.close();
  return path;
}

async function measure(title: string, databaseUrl: string | null): Promise<void> {
  process.stderr.write(`${title}: writing ${MANY} installs …\n`);
  const folder = temporaryFolder();
  try {
    const many = await seedAccount({ databaseUrl, dataDir: folder.path }, MANY);
    const server = await serveHomeport(folder.path, databaseUrl ?? undefined);
    const get = (path: string): Load => ({
      origin: server.origin,
      ca: server.ca,
      expect: 200,
      next: () => ({ method: 'GET', path, headers: { authorization: many.authorization } }),
    });
    const byOffset = (offset: number) => get(`/v1/installs?limit=${LIMIT}&offset=${offset}`);
    const results = await interleaved([
      byOffset(0),
      byOffset(DEEP),
      byOffset(MANY / 2),
      get(await cursorAfter(server, many, DEEP)),
    ]);
    await server.stop();
    const [first, deep, middle, cursor] = results;
    if (!first || !deep || !middle || !cursor) throw new Error('a load was not measured');
    const measured = (result: LoadResult) => `${Math.round(result.perSecond)}/s`;
    const compare = (what: string, result: LoadResult, goal?: { atMost: number }) =>
      report.figure({
        what: `${title}: GET /installs of ${MANY}, ${what}, cost`,
        value: first.perSecond / result.perSecond,
        unit: 'ratio',
        measured: measured(result),
        beside: `first page ${measured(first)}`,
        ...(goal === undefined ? {} : { goal }),
      });
    compare(`offset ${DEEP}`, deep, { atMost: 3 });
    compare(`offset ${MANY / 2}`, middle);
    compare(`cursor after ${DEEP}`, cursor, { atMost: 1.5 });
  } finally {
    folder.remove();
  }
}

report.part('Pages of a long list');
await measure('SQLite', null);
const binaries = findPostgres();
if (binaries === undefined) report.note('No PostgreSQL server was found.');
else {
  const postgres = await startPostgres(binaries);
  try {
    await measure('PostgreSQL', postgres.url);
  } finally {
    await postgres.stop();
  }
}
report.end();
report.finish();
