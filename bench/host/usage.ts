import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { openDatabase } from '../../src/database/open.ts';
import { storePage } from '../../src/features/usage/collect-store.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { EDGE_SIZES } from '../../src/hosting/linux/nginx/edge-options.ts';
import { runFiles } from '../../src/hosting/linux/nginx/machine-options.ts';
import { USAGE_LOG } from '../../src/hosting/linux/nginx/usage-lines.ts';
import { createUsageLedger } from '../../src/hosting/policy/usage/ledger.ts';
import { systemClock, timestamp } from '../../src/lib/clock.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { plainState } from '../../test/host/state.ts';
import { temporaryFolder } from '../measure/processes.ts';
import { progress, type Run } from '../measure/report.ts';
import { seedAccount } from '../measure/seed.ts';
import { median } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { nginxOf, type ProcessorTime, processorMs, processorTimeOf, totalOf } from './footprint.ts';
import { type LoadResult, wrk } from './wrk.ts';

/** The part of a busy host's processor time that may go into usage. */
const GOAL = 0.02;
const CONNECTIONS = 16;
/** Of 20 requests of the mixed load. The others are files. */
const MIX = { php: 1, cached: 7 };
const FILE = '/wp-includes/js/jquery/jquery.min.js';
/** Requests for it take the edge the least time, so that its log stands out. */
const SMALL_FILE = '/wp-includes/images/blank.gif';
/** Visitors by `X-Forwarded-For`, and their browsers. */
const VISITORS = { addresses: 5_000, agents: 200 };
/** How often a worker of nginx measures its log, and a margin. */
const LOG_MEASURED_MS = 1_500;
/** The host reads the log every 10 seconds, and stores the counts as often. */
const READ_WITHIN_MS = 25_000;
/** Some work of a host at rest recurs every minute. */
const REST_MS = MINUTE_MS;
/** Installs of the control plane that had visitors since the last collection, and the time between collections. */
const COLLECTED = { installs: 1_000, everyMs: 5 * MINUTE_MS };

interface Measured {
  requests: number;
  /** Of everything that belongs to the host. */
  all: ProcessorTime;
  /** Of the host's process, beyond what it takes at rest. */
  readingMs: number;
}

/**
 * Processor time of collecting usage, beside that of the whole host. The edge's part is the difference between loads with its log and
 * without it. The log is off if it is full, and the host is stopped meanwhile, so that it does not empty it.
 */
export async function benchUsage({ report, quick }: Run): Promise<void> {
  const rounds = quick ? 2 : 15;
  const seconds = quick ? 2 : 30;
  progress('starting a host');
  const { lineMicros, mixed, cached } = await withBenchHost(
    async (host) => {
      const install = plainState('bench-usage');
      await host.remote.apply(install);
      await host.visit(install.name);
      const loads = await prepareLoads(host, install);
      await loads.mixed(2);
      const line = await measureLine(host, loads.small, rounds, quick ? 1 : 2);
      const rest = await measureRest(host);
      return {
        lineMicros: line,
        mixed: await measure(host, install, rest, () => loads.mixed(seconds)),
        cached: await measure(host, install, rest, () => loads.cached(seconds)),
      };
    },
    { HOMEPORT_TRUST_PROXY: '127.0.0.1' },
  );
  progress('collecting in the control plane');
  const collectMs = await measureCollection(quick ? 2 : 5);

  report.part('Processor time of collecting usage, with the access logs that the same reading writes');
  const edge = median(lineMicros);
  const shares = [
    { name: 'mixed load', load: mixed, goal: { goal: { atMost: GOAL } } },
    { name: 'cached pages only', load: cached, goal: {} },
  ];
  for (const { name, load, goal } of shares) {
    const whole = totalOf(load.all);
    const own = (edge * load.requests) / 1000 + load.readingMs;
    report.figure({
      what: `collecting, of the host's processor time, ${name}`,
      value: own / whole,
      unit: 'ratio',
      measured: `${((100 * own) / whole).toFixed(2)} %: ${shownPerRequest(own, load)} of ${shownPerRequest(whole, load)}`,
      beside: shownParts(load),
      ...goal,
    });
  }
  report.figure({
    what: 'a line of the edge',
    value: edge,
    unit: 'µs',
    measured: lineMicros.map((micros) => micros.toFixed(1)).join(', '),
  });
  report.figure({
    what: 'reading a line',
    value: (cached.readingMs * 1000) / cached.requests,
    unit: 'µs',
    measured: `${(cached.readingMs / 1000).toFixed(1)} s for ${cached.requests.toLocaleString('en')} requests`,
  });
  report.figure({
    what: `the control plane, ${COLLECTED.installs.toLocaleString('en')} installs every 5 minutes`,
    value: collectMs,
    unit: 'ms',
    measured: `${((100 * collectMs) / COLLECTED.everyMs).toFixed(3)} % of one processor`,
  });
  report.note(
    `Mixed: of 20 requests ${MIX.php} for PHP, ${MIX.cached} for a cached page, the others for a file; ${VISITORS.addresses} visitors.`,
  );
  report.end();
}

const shownPerRequest = (ms: number, { requests }: Measured) => `${((ms * 1000) / requests).toFixed(1)} µs`;

function shownParts({ all }: Measured): string {
  const whole = totalOf(all);
  return Object.entries(all)
    .map(([name, ms]) => `${name} ${((100 * ms) / whole).toFixed(0)} %`)
    .join(', ');
}

async function prepareLoads({ machine, layout }: BenchHost, install: InstallState) {
  const hostname = install.primaryHostname;
  const address = machine.config.edgeHttp;
  const scriptOf = async (name: string, php: number, cached: number, file = FILE) => {
    const script = join(layout.runFolder, `${name}.lua`);
    await writeFile(script, loadScript(hostname, php, cached, file));
    return (seconds: number) => wrk({ address, hostname, script, connections: CONNECTIONS, seconds });
  };
  return {
    mixed: await scriptOf('mixed', MIX.php, MIX.cached),
    cached: await scriptOf('cached', 0, 20),
    small: await scriptOf('small', 0, 0, SMALL_FILE),
  };
}

/** A script of wrk: visitors with addresses and browsers, who ask in turn for what the mix says. */
function loadScript(hostname: string, php: number, cached: number, file: string): string {
  return `local n = 0
function request()
  n = n + 1
  local turn, visitor = n * 7 % 20, math.random(${VISITORS.addresses})
  local path = turn < ${php + cached} and "/" or "${file}"
  local cookie = turn < ${php} and "Cookie: comment_author_bench=1\\r\\n" or ""
  return "GET " .. path .. " HTTP/1.1\\r\\nHost: ${hostname}\\r\\n" .. cookie
    .. "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:" .. visitor % ${VISITORS.agents} .. ".0) Gecko/20100101 Firefox/140.0\\r\\n"
    .. "X-Forwarded-For: 198.18." .. math.floor(visitor / 250) .. "." .. visitor % 250 .. "\\r\\n"
    .. "Accept: text/html,*/*;q=0.8\\r\\nReferer: http://${hostname}/\\r\\n\\r\\n"
end
`;
}

/** Microseconds of the edge for a line, of each round. */
async function measureLine(
  host: BenchHost,
  load: (seconds: number) => Promise<LoadResult>,
  rounds: number,
  seconds: number,
): Promise<number[]> {
  const master = await nginxOf(host.machine);
  const log = join(runFiles(host.layout).usageLogs, USAGE_LOG);
  const microsOf = async (bytesOfLog: number) => {
    await truncate(log, bytesOfLog);
    await sleep(LOG_MEASURED_MS);
    const before = await processorMs(master);
    const { requests } = await load(seconds);
    return (((await processorMs(master)) - before) * 1000) / requests;
  };
  const differences: number[] = [];
  process.kill(host.pid, 'SIGSTOP');
  try {
    for (let round = 1; round <= rounds; round++) {
      progress(`a line of the edge, round ${round} of ${rounds}`);
      const without = await microsOf(EDGE_SIZES.usageLog);
      differences.push((await microsOf(0)) - without);
    }
  } finally {
    await truncate(log, 0);
    process.kill(host.pid, 'SIGCONT');
  }
  return differences;
}

/** The part of one processor that the host's process takes at rest. */
async function measureRest({ machine, pid }: BenchHost): Promise<number> {
  progress('the host at rest');
  await sleep(READ_WITHIN_MS);
  const before = await processorTimeOf(machine, pid);
  const began = performance.now();
  await sleep(REST_MS);
  return ((await processorTimeOf(machine, pid)).host - before.host) / (performance.now() - began);
}

/** Runs a load, and waits until all of its requests are counted. */
async function measure(
  host: BenchHost,
  install: InstallState,
  rest: number,
  load: () => Promise<LoadResult>,
): Promise<Measured> {
  const counted = async () => {
    const { days } = await host.remote.readUsage(null);
    return days
      .filter(({ installId }) => installId === install.id)
      .reduce((sum, day) => sum + day.requests, 0);
  };
  // Few questions, because each makes the host store its counts.
  const untilRead = async (most: number) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      await sleep(READ_WITHIN_MS);
      if ((await counted()) >= most) return;
    }
    throw new Error('the requests were not counted');
  };
  const countedBefore = await counted();
  progress('load');
  const before = await processorTimeOf(host.machine, host.pid);
  const began = performance.now();
  const { requests } = await load();
  await untilRead(countedBefore + requests);
  const after = await processorTimeOf(host.machine, host.pid);
  const elapsedMs = performance.now() - began;
  const hostMs = after.host - before.host;
  return {
    requests,
    all: {
      nginx: after.nginx - before.nginx,
      php: after.php - before.php,
      database: after.database - before.database,
      host: hostMs,
    },
    readingMs: hostMs - rest * elapsedMs,
  };
}

/** Milliseconds of the control plane's processor time for one collection. */
async function measureCollection(rounds: number): Promise<number> {
  const folder = temporaryFolder();
  const log = pino({ level: 'silent' });
  try {
    const settings = { databaseUrl: null, dataDir: folder.path };
    await seedAccount(settings, COLLECTED.installs);
    const database = openDatabase(settings, log);
    const ledger = createUsageLedger({ file: join(folder.path, 'usage.sqlite'), clock: systemClock, log });
    ledger.start();
    const ids = await database.reader.selectFrom('installs').select('id').execute();
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const { id } of ids) ledger.count(id, Date.now(), 1_000);
      const page = JSON.stringify(ledger.read(null));
      const before = process.cpuUsage();
      await database.write(({ queries }) =>
        storePage(queries, 'embedded', JSON.parse(page), timestamp(systemClock)),
      );
      const { user, system } = process.cpuUsage(before);
      taken.push((user + system) / 1000);
    }
    await ledger.stop();
    await database.close();
    return median(taken);
  } finally {
    folder.remove();
  }
}
