import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { SQLITE_FILE } from '../src/database/open.ts';
import { freePort } from '../test/servers/free-port.ts';
import {
  answerOf,
  get,
  interleaved,
  type Load,
  type LoadResult,
  shownLoad as perSecond,
} from './measure/load.ts';
import { type ServedHomeport, serve, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- api`: the cost of Homeport, as ratios of two measurements of the same run on the same machine. Absolute figures depend on
 * the machine, so compare ratios. `--no-peers` leaves out the peers. A missed goal gives exit status 1.
 */
const MANY = 100_000;
const FEW = 100;
const STARTS = 5;
/** Time from the start until the memory is measured. */
const REST_MS = 5_000;
const report = createReport('api');

async function reading(server: ServedHomeport, few: Seeded, many: Seeded): Promise<void> {
  const page = '/v1/installs?limit=100';
  const deep = `${page}&offset=${MANY - 1_000}`;
  const [small, large, far] = await interleaved([
    get(server, page, few.authorization),
    get(server, page, many.authorization),
    get(server, deep, many.authorization),
  ]);
  if (small && large && far) {
    const cost = (result: LoadResult) => small.perSecond / result.perSecond;
    const beside = `of 100: ${perSecond(small)}`;
    report.figure({
      what: `GET /installs of ${MANY}, cost`,
      value: cost(large),
      unit: 'ratio',
      measured: perSecond(large),
      beside,
      goal: { atMost: 3 },
    });
    report.figure({
      what: `GET /installs of ${MANY}, offset ${MANY - 1_000}, cost`,
      value: cost(far),
      unit: 'ratio',
      measured: perSecond(far),
      beside,
    });
  }
}

/** Lists that cost the same in an account of any size. */
const FLAT = {
  'GET /installs?status=active': () => '/v1/installs?limit=100&status=active',
  'GET /accounts/{id}/usage': ({ accountId }: Seeded) => `/v1/accounts/${accountId}/usage?limit=100`,
  'GET /accounts/{id}/wordpress': ({ accountId }: Seeded) => `/v1/accounts/${accountId}/wordpress?limit=100`,
};

async function growing(server: ServedHomeport, few: Seeded, many: Seeded): Promise<void> {
  for (const [what, path] of Object.entries(FLAT)) {
    const [small, large] = await interleaved(
      [few, many].map((seeded) => get(server, path(seeded), seeded.authorization)),
    );
    if (!small || !large) continue;
    report.figure({
      what: `${what} of ${MANY}, processor time`,
      value: large.cpuMicros / small.cpuMicros,
      unit: 'ratio',
      measured: `${large.cpuMicros.toFixed(0)} µs`,
      beside: `of ${FEW}: ${small.cpuMicros.toFixed(0)} µs`,
      goal: { atMost: 1.5 },
    });
  }
}

async function writing(server: ServedHomeport, seeded: Seeded): Promise<void> {
  const load: Load = {
    origin: server.origin,
    ca: server.ca,
    expect: 201,
    next: () => ({
      method: 'POST',
      path: '/v1/sites',
      headers: { authorization: seeded.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench', account_id: seeded.accountId }),
    }),
  };
  const direct: number[] = [];
  const own: LoadResult[] = [];
  for (let round = 0; round < 3; round++) {
    const [result] = await interleaved([load], { rounds: 1 });
    if (result) own.push(result);
    direct.push(directWrites(join(server.dataDir, SQLITE_FILE), seeded.accountId, 3));
  }
  own.sort((a, b) => a.perSecond - b.perSecond);
  direct.sort((a, b) => a - b);
  const [, middle] = own;
  const [, driver = 1] = direct;
  if (!middle) return;
  report.figure({
    what: 'POST /sites',
    value: middle.perSecond / driver,
    unit: 'ratio',
    measured: perSecond(middle),
    beside: `driver alone ${Math.round(driver)}/s`,
    goal: { atLeast: 0.5 },
  });
}

/** The same transaction with the same durability, in a loop with the bare driver. */
function directWrites(file: string, accountId: string, seconds: number): number {
  const database = new Sqlite(file, { timeout: 10_000 });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const insert = database.prepare('insert into sites (id, account_id, name, created_at) values (?, ?, ?, ?)');
  const member = database.prepare(
    'select role, billing from memberships where user_id = ? and account_id = ?',
  );
  const count = database.prepare('update accounts set site_count = site_count + 1 where id = ?');
  const one = database.transaction(() => {
    member.get(accountId, accountId);
    insert.run(crypto.randomUUID(), accountId, 'Bench', '2026-01-01T00:00:00.000Z');
    count.run(accountId);
  });
  let writes = 0;
  const started = performance.now();
  for (const until = started + seconds * 1000; performance.now() < until; writes++) one.immediate();
  const elapsed = (performance.now() - started) / 1000;
  database.close();
  return writes / elapsed;
}

async function starting(folder: string): Promise<void> {
  // As `npm start` does for the next start.
  execFileSync(process.execPath, ['bin/build-program.ts']);
  const times: number[] = [];
  const sizes: number[] = [];
  // The first start compiles the modules.
  for (let round = 0; round <= STARTS; round++) {
    const server = await serveHomeport(folder);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    if (round > 0) {
      times.push(server.startMs);
      sizes.push(server.residentMb());
    }
    await server.stop();
  }
  report.figure({
    what: 'start to first answer',
    value: median(times),
    unit: 'ms',
    beside: 'existing database',
    goal: { atMost: 600 },
  });
  report.figure({
    what: 'memory at rest',
    value: median(sizes),
    unit: 'MB',
    beside: `${MANY} installs in the database`,
    goal: { atMost: 110 },
  });
}

/** The same description and response, from a mock server and from a JSON file behind a server. */
async function peers(server: ServedHomeport, seeded: Seeded, folder: string): Promise<void> {
  if (!existsSync('bench/peers/node_modules')) {
    process.stderr.write('  installing the peers …\n');
    execFileSync('npm', ['install', '--prefix', 'bench/peers', '--no-save', '--no-package-lock'], {
      stdio: 'inherit',
    });
  }
  const path = `/v1/installs/${seeded.installIds[0]}`;
  const install = await answerOf(server, path, seeded.authorization);
  const description = join(folder, 'description.json');
  writeFileSync(description, JSON.stringify(await answerOf(server, '/v1/swagger', seeded.authorization)));
  const database = join(folder, 'peers.json');
  writeFileSync(database, JSON.stringify({ installs: [install] }));
  const bin = (name: string) => join('bench/peers/node_modules/.bin', name);
  const [prismPort, jsonPort] = [await freePort(), await freePort()];
  const prism = await serve(
    [process.execPath, bin('prism'), 'mock', '-p', String(prismPort), '-v', 'error', description],
    {
      origin: `http://127.0.0.1:${prismPort}`,
    },
  );
  const json = await serve(
    [process.execPath, bin('json-server'), '--quiet', '-p', String(jsonPort), database],
    {
      origin: `http://127.0.0.1:${jsonPort}`,
    },
  );
  const [own, mock, file] = await interleaved([
    get(server, path, seeded.authorization),
    get(prism, path.replace('/v1', ''), seeded.authorization),
    get(json, path.replace('/v1', '')),
  ]);
  await Promise.all([prism.stop(), json.stop()]);
  if (own && mock && file) {
    for (const [peer, result] of [
      ['Prism', mock],
      ['json-server', file],
    ] as const) {
      report.figure({
        what: `GET /installs/{id}, HTTPS, beside ${peer}`,
        value: own.perSecond / result.perSecond,
        unit: 'ratio',
        measured: perSecond(own),
        beside: `HTTP ${perSecond(result)}`,
        goal: { atLeast: 1 },
      });
    }
  }
}

const folder = temporaryFolder();
try {
  report.part('The API, beside what it is built on');
  process.stderr.write(`Writing ${MANY} installs …\n`);
  const settings = { databaseUrl: null, dataDir: folder.path };
  const few = await seedAccount(settings, FEW);
  const many = await seedAccount(settings, MANY);
  await starting(folder.path);
  const server = await serveHomeport(folder.path);
  await reading(server, few, many);
  await growing(server, few, many);
  await writing(server, few);
  if (!process.argv.includes('--no-peers')) await peers(server, few, folder.path);
  await server.stop();
} finally {
  folder.remove();
}
report.end();
report.finish();
