import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientCommand, runStatements } from '../../src/hosting/linux/daemons/mariadb-client.ts';
import { databaseUser } from '../../src/hosting/linux/daemons/sql.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';

/** How much longer a page of a neighbour may take. */
const GOAL = 1.5;
const HEAVY = 20;
/** The cookie of a commenter, which bypasses the page cache. */
const PERSONAL = { cookie: 'comment_author_bench=1' };
/** Rows of the table that is read, and how long the host gets to notice. */
const ROWS = 100_000;
const NOTICED_MS = 3_000;

/** Statements without an end in sight: one that computes, and one that sorts temporary tables on the disk. */
const STATEMENTS = {
  'joins of a table with itself':
    'SELECT COUNT(*), SUM(CRC32(CONCAT(a.t, b.t))) FROM bench_rows a JOIN bench_rows b ON a.id <> b.id',
  'sorting through temporary tables':
    'SELECT t, COUNT(*) c FROM (SELECT a.t FROM bench_rows a JOIN seq_1_to_40 s) x GROUP BY t ORDER BY c, t DESC LIMIT 10',
};

/** The median page of a website, alone and while another website runs 20 heavy statements. */
export async function benchNeighbours({ report, quick }: Run): Promise<void> {
  const rounds = quick ? 1 : 3;
  const pages = quick ? 9 : 15;
  progress('starting a host');
  const results = await withBenchHost(async (host) => {
    const [busy, quiet] = [plainState('bench-busy'), plainState('bench-quiet')];
    for (const install of [busy, quiet]) await host.remote.apply(install);
    const database = await fillTable(host, busy.name);
    const page = () => medianPage(host, quiet.name, pages);
    await page();
    const all: { what: string; alone: number; beside: number }[] = [];
    for (let round = 1; round <= rounds; round++) {
      for (const [what, statement] of Object.entries(STATEMENTS)) {
        progress(`${what}, round ${round} of ${rounds}`);
        const alone = await page();
        const beside = await whileHeavy(host, { user: busy.name, database, statement }, page);
        all.push({ what, alone, beside });
      }
    }
    return all;
  });
  report.part(
    `The median page of a website beside ${HEAVY} heavy statements of another, median of ${rounds}`,
  );
  for (const what of Object.keys(STATEMENTS)) {
    const own = results.filter((result) => result.what === what);
    report.figure({
      what,
      value: median(own.map(({ alone, beside }) => beside / alone)),
      unit: 'ratio',
      measured: shownMs(median(own.map(({ beside }) => beside))),
      beside: `alone: ${shownMs(median(own.map(({ alone }) => alone)))}`,
      goal: { atMost: GOAL },
    });
  }
  report.end();
}

async function fillTable({ layout }: BenchHost, user: string): Promise<string> {
  databaseUser(user);
  const [[granted = ''] = []] = await runStatements(
    layout.mariadbSocket,
    'root',
    `SELECT Db FROM mysql.db WHERE User = '${user}'`,
  );
  const database = granted.replaceAll('\\', '');
  const columns = '(id INT PRIMARY KEY, t VARCHAR(200))';
  const rows = `SELECT seq AS id, REPEAT(MD5(seq), 5) AS t FROM seq_1_to_${ROWS}`;
  await runStatements(
    layout.mariadbSocket,
    { unixUser: user },
    `CREATE TABLE bench_rows ${columns} ${rows}`,
    { database },
  );
  return database;
}

async function medianPage({ visit }: BenchHost, name: string, pages: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < pages; n++) {
    times.push(
      await timed(async () => {
        const { status } = await visit(name, PERSONAL);
        if (status !== 200) throw new Error(`the page of the quiet website answered ${status}`);
      }),
    );
  }
  return median(times);
}

async function whileHeavy<Result>(
  { layout }: BenchHost,
  { user, database, statement }: { user: string; database: string; statement: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const [program, args] = clientCommand(layout.mariadbSocket, { unixUser: user }, 'mariadb', [database]);
  const clients = Array.from({ length: HEAVY }, () => {
    const client = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
    // It ends before it has read everything.
    client.stdin.on('error', () => {});
    client.stdin.end(`${statement};\n`.repeat(1_000));
    return client;
  });
  try {
    await sleep(NOTICED_MS);
    const ended = clients.filter(({ exitCode }) => exitCode !== null).length;
    if (ended > 0) throw new Error(`${ended} of the heavy statements have ended`);
    return await work();
  } finally {
    for (const client of clients) client.kill('SIGKILL');
    await runStatements(layout.mariadbSocket, 'root', `KILL USER \`${user}\`@localhost`).catch(() => {});
    await sleep(NOTICED_MS / 2);
  }
}
