import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { everyList, GROWING, IN_PARTS } from '../src/app/every-list.fixture.ts';
import { startHomeport } from '../src/app/homeport.ts';
import { fillAccount, generatedId } from '../src/app/large-account.fixture.ts';
import { readConfig } from '../src/config/config.ts';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';
import { insertOwnedAccount } from '../src/features/accounts/account-users/store.ts';
import { insertHost } from '../src/features/hosts/store.ts';
import { DAY_MS } from '../src/lib/durations.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median, timed } from './measure/units.ts';

/**
 * `npm run bench -- lists`: processor time of every list of the API and the portal with every filter and order, in an account of 1,000,000
 * installs beside one of 1,000 in the same SQLite database; and the longest query of a start and of all schedules. `--few` and `--many` set the sizes,
 * `--folder` keeps the database for another run, `--only` names operations, separated by commas, and `--rounds` sets how often each is asked.
 */
const { values: options } = parseArgs({
  options: {
    few: { type: 'string', default: '1000' },
    many: { type: 'string', default: '1000000' },
    folder: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
  },
  strict: false,
});
const SIZES = { '11': Number(options.few), '12': Number(options.many) };
/** A list that takes less is not compared: the difference is noise. */
const NOTABLE_MS = 5;
const MOST_TIMES = 1.5;
const LONGEST_QUERY_MS = 20;
const ROUNDS = Number(options.rounds);
const ONLY = typeof options.only === 'string' ? options.only.split(',') : null;
const START_MS = 60_000;
const PRIVATE = '127.0.0.1:0';
const log = pino({ level: 'silent' });
const report = createReport('lists');

interface Account {
  series: string;
  accountId: string;
  userId: string;
}

const accountOf = (series: string): Account => ({
  series,
  accountId: generatedId(series, '0', 0),
  userId: generatedId(series, '0', 1),
});

async function fill(config: Parameters<typeof openDatabase>[0]): Promise<void> {
  const database = openDatabase(config, log);
  await migrate(database);
  for (const [series, installs] of Object.entries(SIZES)) {
    const account = accountOf(series);
    const isFilled = await database.reader
      .selectFrom('accounts')
      .select('id')
      .where('id', '=', account.accountId)
      .executeTakeFirst();
    if (isFilled) continue;
    await database.write(({ queries }) =>
      insertOwnedAccount(queries, {
        account: { id: account.accountId, name: series },
        owner: { id: account.userId, email: `${series}@bench.example`, first_name: 'B', last_name: 'B' },
        created_at: '2026-01-01T00:00:00.000Z',
      }),
    );
    const ms = await timed(() => fillAccount(database, { ...account, installs }));
    process.stderr.write(`Filled ${installs} installs in ${Math.round(ms / 1000)} s\n`);
  }
  await database.close();
}

/** Notes the processor time of each query of SQLite in the thread that runs it, until it is stopped. */
function watchQueries(): { slowest(): [ms: number, text: string][]; stop(): void } {
  const times = new Map<string, number>();
  const { prepare } = Sqlite.prototype;
  Reflect.set(Sqlite.prototype, 'prepare', function prepareWatched(this: Sqlite.Database, text: string) {
    const statement = prepare.call(this, text);
    for (const method of ['all', 'get', 'run'] as const) {
      const run = statement[method];
      Object.defineProperty(statement, method, {
        value: (...parameters: unknown[]) => {
          // Of this thread alone: others sync commits, collect garbage and compile meanwhile.
          const before = process.threadCpuUsage();
          const answer: unknown = Reflect.apply(run, statement, parameters);
          const { user, system } = process.threadCpuUsage(before);
          times.set(text, Math.max(times.get(text) ?? 0, (user + system) / 1000));
          return answer;
        },
      });
    }
    return statement;
  });
  return {
    slowest: () =>
      [...times].map(([text, ms]): [number, string] => [ms, text]).sort(([one], [other]) => other - one),
    stop() {
      Reflect.set(Sqlite.prototype, 'prepare', prepare);
    },
  };
}

/** Lists that may take longer: those that are known to grow, and the search, which looks at 10,000 installs at most. */
const mayGrow = (operationId: string, parameter: string | null) =>
  operationId === 'search' ||
  operationId in IN_PARTS ||
  `${operationId}?${parameter}` in IN_PARTS ||
  operationId in GROWING ||
  `${operationId}?${parameter}` in GROWING;

/** A list with parameters. */
interface Cost {
  mayGrow: boolean;
  /** Milliseconds of processor time, by round. */
  times: number[];
}

/** The cost of each list, by its name and parameters. */
async function costs(
  homeport: Parameters<typeof everyList>[0],
  account: Account,
  rounds: number,
): Promise<Map<string, Cost>> {
  const ids = {
    account_id: account.accountId,
    user_id: account.userId,
    site_id: generatedId(account.series, 'a', 7),
    install_id: generatedId(account.series, 'b', 7),
    tags: 'rare',
  };
  const found = new Map<string, Cost>();
  for (let round = 0; round < rounds; round++) {
    let before = process.cpuUsage();
    for await (const { operationId, parameter, query, isAnswered } of everyList(
      homeport,
      account,
      ids,
      ONLY,
    )) {
      const { user, system } = process.cpuUsage(before);
      const key = `${operationId}${query.replaceAll(`=${account.series}`, '=')}`;
      const cost = found.get(key) ?? { mayGrow: mayGrow(operationId, parameter), times: [] };
      cost.times.push((user + system) / 1000);
      if (isAnswered) found.set(key, cost);
      before = process.cpuUsage();
    }
  }
  return found;
}

async function lists(config: ReturnType<typeof readConfig>): Promise<void> {
  const homeport = await startHomeport(config, { log, schedules: false }, { api: true, hosting: false });
  const listing = { ...homeport, origin: 'https://localhost' };
  // Compiles the code.
  await costs(listing, accountOf('11'), 1);
  const few = await costs(listing, accountOf('11'), ROUNDS);
  const many = await costs(listing, accountOf('12'), ROUNDS);
  const rows = [...many]
    .map(([what, { mayGrow, times }]) => ({
      what,
      mayGrow,
      ms: median(times),
      fewMs: median(few.get(what)?.times ?? [Number.NaN]),
    }))
    .sort((one, other) => other.ms / other.fewMs - one.ms / one.fewMs);
  const growing = rows.filter(({ ms, fewMs }) => ms > NOTABLE_MS && ms > MOST_TIMES * fewMs);
  report.grid(
    ['LIST', 'FEW', 'MANY', 'KNOWN TO GROW'],
    growing.map(({ what, mayGrow, ms, fewMs }) => [
      what,
      `${fewMs.toFixed(1)} ms`,
      `${ms.toFixed(1)} ms`,
      mayGrow ? 'yes' : '',
    ]),
  );
  report.figure({
    what: `lists that take more than ${MOST_TIMES} times as long with ${options.many} installs`,
    value: growing.filter(({ mayGrow }) => !mayGrow).length,
    unit: 'count',
    measured: `of ${rows.length}`,
    beside: `known to grow: ${growing.filter(({ mayGrow }) => mayGrow).length}`,
    goal: { atMost: 0 },
  });
  await homeport.stop();
}

/** A process that works needs a host. */
async function addSilentHost(config: Parameters<typeof openDatabase>[0]): Promise<void> {
  const database = openDatabase(config, log);
  const { id, address } = { id: crypto.randomUUID(), address: 'https://127.0.0.1:9' };
  const known = await database.reader
    .selectFrom('hosts')
    .select('id')
    .where('address', '=', address)
    .executeTakeFirst();
  if (known === undefined)
    await database.write(({ queries }) =>
      insertHost(queries, {
        id,
        name: 'silent',
        address,
        public_name: null,
        edge_addresses: [],
        created_at: '2026-01-01T00:00:00.000Z',
      }),
    );
  await database.close();
}

async function starting(config: ReturnType<typeof readConfig>): Promise<void> {
  await addSilentHost(config);
  const watch = watchQueries();
  let ahead = 0;
  const clock = { now: () => new Date(Date.now() + ahead) };
  // With jobs and schedules. Its Linux hosts do not answer, so that none makes a million websites.
  const homeport = await startHomeport(
    { ...config, host: 'linux' },
    { log, clock },
    { api: true, hosting: true },
  );
  await sleep(START_MS);
  // All schedules are due then, those of each day as well.
  ahead = DAY_MS;
  await sleep(START_MS);
  const slowest = watch.slowest();
  await homeport.stop();
  watch.stop();
  report.grid(
    ['QUERY OF A START AND OF A DAY', 'LONGEST'],
    slowest.slice(0, 12).map(([ms, text]) => [text.slice(0, 90), `${ms.toFixed(1)} ms`]),
  );
  report.figure({
    what: 'longest query of a start and of the schedules of a day',
    value: slowest[0]?.[0] ?? 0,
    unit: 'ms',
    goal: { atMost: LONGEST_QUERY_MS },
  });
}

const folder = typeof options.folder === 'string' ? { path: options.folder, remove() {} } : temporaryFolder();
try {
  mkdirSync(folder.path, { recursive: true });
  const config = readConfig({
    HOMEPORT_DATA_DIR: folder.path,
    HOMEPORT_LISTEN: PRIVATE,
    HOMEPORT_EDGE_HTTP: PRIVATE,
    HOMEPORT_EDGE_HTTPS: PRIVATE,
    HOMEPORT_SSH_LISTEN: PRIVATE,
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    HOMEPORT_RATE_LIMIT: '0',
  });
  report.part(`Lists of ${options.few} and ${options.many} installs`);
  await fill(config);
  await starting(config);
  await lists(config);
} finally {
  folder.remove();
}
report.end();
report.finish();
