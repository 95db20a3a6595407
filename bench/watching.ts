import { createServer } from 'node:http';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openPlatform } from '../src/app/open-platform.ts';
import { readConfig } from '../src/config/config.ts';
import { backupAges } from '../src/features/backups/backup-ages-store.ts';
import { fleetCertificates } from '../src/features/domains/certificates/fleet-certificates-store.ts';
import { timestamp } from '../src/lib/clock.ts';
import { DAY_MS } from '../src/lib/durations.ts';
import { readFigures } from '../src/metrics/figures.ts';
import type { Platform } from '../src/platform/platform.ts';
import { freePort } from '../test/servers/free-port.ts';
import { get, run } from './measure/load.ts';
import { serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- watching`: processor time of a scrape with 1,000 and with 10,000 installs, each with a certificate and 30 backups, and of
 * a request with and without traces.
 */
const SIZES = [1_000, 10_000] as const;
const BACKUPS = 30;
const ROUNDS = 5;
const SECONDS = 3;
/** A scrape each 15 seconds with this takes a thousandth of a processor. */
const MOST_SCRAPE_MS = 15;
const report = createReport('watching');

async function makePlatform(folder: string, installs: number): Promise<Platform> {
  const config = readConfig({ HOMEPORT_DATA_DIR: folder, HOMEPORT_EMBEDDED_PHP_MB: '0' });
  await seedAccount(config, installs);
  const platform = await openPlatform(config, { log: pino({ level: 'silent' }) });
  await platform.database.write(async ({ queries }) => {
    await sql`insert into backups (id, install_id, description, notification_emails, status, bytes, files, sha256, scheduled, created_at, finished_at)
      select lower(hex(randomblob(16))), installs.id, 'daily', '[]', 'completed', 1, 1, '', 1,
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || day.value || ' days'), '2026-01-01T00:00:00.000Z'
      from installs, json_each(${JSON.stringify(Array.from({ length: BACKUPS }, (_, day) => day))}) as day`.execute(
      queries,
    );
    await sql`insert into certificates (domain_id, source, chain, sealed_key, not_before, not_after, renew_at, created_at)
      select id, 'LETS_ENCRYPT', '', '', '2026-01-01T00:00:00.000Z', strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+60 days'),
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+30 days'), '2026-01-01T00:00:00.000Z' from domains`.execute(
      queries,
    );
  });
  return platform;
}

const WORKS: [what: string, work: (platform: Platform) => Promise<void>][] = [
  [
    'figures of a scrape',
    async ({ database, clock }) => {
      const { installs } = await readFigures(database, clock);
      if (installs.length === 0) throw new Error('no figures');
    },
  ],
  [
    'certificates, once in 5 minutes',
    async ({ database }) => {
      const { certificates } = await fleetCertificates(database.reader);
      if (!certificates.some(({ source }) => source === 'LETS_ENCRYPT')) throw new Error('no certificates');
    },
  ],
  [
    'ages of backups, once in 5 minutes',
    async ({ database, clock }) => {
      const { oldest, without } = await backupAges(database.reader, timestamp(clock, -2 * DAY_MS));
      if (oldest === null || without > 0) throw new Error('no ages');
    },
  ],
];

/** Milliseconds of processor time. */
async function costOf(platform: Platform, work: (platform: Platform) => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work(platform);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function measureScrapes(platforms: readonly Platform[]): Promise<void> {
  report.part(`A scrape, processor time with ${SIZES[1]} installs beside ${SIZES[0]}`);
  for (const [what, work] of WORKS) {
    const costs: number[][] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const pair: number[] = [];
      for (const platform of platforms) pair.push(await costOf(platform, work));
      if (round >= 0) costs.push(pair);
    }
    const of = (at: number) => median(costs.map((pair) => pair[at] ?? 0));
    const isEach = what.startsWith('figures');
    report.figure({
      what,
      value: of(1),
      unit: 'ms',
      beside: `${of(0).toFixed(1)} ms`,
      ...(isEach ? { goal: { atMost: MOST_SCRAPE_MS } } : {}),
    });
  }
  report.end();
}

/** Takes traces, as a collector does, in this process, so that its work is not measured. */
async function collector(): Promise<{ address: string; bytes(): number; stop(): void }> {
  let bytes = 0;
  const port = await freePort();
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  }).listen(port, '127.0.0.1');
  return {
    address: `http://127.0.0.1:${port}`,
    bytes: () => bytes,
    stop: () => void server.close().closeAllConnections(),
  };
}

/** Settings of the traces of a server, besides where they go, and the most that they may cost. A request that is not recorded also has a span, whose jobs are not recorded either. */
const TRACED: [what: string, settings: Record<string, string> | null, most: number][] = [
  ['without', null, 1],
  ['a read with traces switched off', { OTEL_SDK_DISABLED: 'true' }, 1.15],
  ['a read with traces', {}, 2],
  [
    'a read with traces of one in ten',
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
    2,
  ],
];

async function measureTraces(folders: readonly string[]): Promise<void> {
  const taken = await collector();
  const servers = [];
  for (const [at, [, settings]] of TRACED.entries()) {
    const folder = folders[at] ?? '';
    const { authorization, installIds } = await seedAccount({ databaseUrl: null, dataDir: folder }, SIZES[0]);
    const more = settings === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: taken.address, ...settings };
    // As in production, each request has a line in the log.
    const server = await serveHomeport(folder, undefined, { HOMEPORT_LOG_LEVEL: 'info', ...more });
    const path = () => `/v1/installs/${installIds[Math.floor(Math.random() * installIds.length)]}`;
    servers.push({ server, load: get(server, path, authorization) });
  }
  report.part('A read by the API, processor time with traces beside without');
  const costs: number[][] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const each: number[] = [];
    // Another one is first in each round, because the load of the machine changes.
    for (const at of servers.keys()) {
      const which = (at + round + servers.length) % servers.length;
      const server = servers[which];
      if (server !== undefined) each[which] = (await run(server.load, SECONDS)).cpuMicros;
    }
    if (round >= 0) costs.push(each);
  }
  for (const { server } of servers) await server.stop();
  taken.stop();
  if (taken.bytes() === 0) throw new Error('no traces were sent');
  const of = (at: number) => median(costs.map((each) => each[at] ?? 0));
  for (const [at, [what, settings, most]] of TRACED.entries()) {
    if (settings === null) continue;
    report.figure({
      what,
      value: median(costs.map((each) => (each[at] ?? 0) / (each[0] ?? 0))),
      unit: 'ratio',
      measured: `${of(at).toFixed(0)} µs`,
      beside: `${of(0).toFixed(0)} µs`,
      goal: { atMost: most },
    });
  }
  report.end();
}

const folders = [0, 1, 2, 3, 4, 5].map(() => temporaryFolder());
const paths = folders.map(({ path }) => path);
const platforms: Platform[] = [];
try {
  for (const [at, installs] of SIZES.entries()) platforms.push(await makePlatform(paths[at] ?? '', installs));
  await measureScrapes(platforms);
  await measureTraces(paths.slice(2));
  report.finish();
} finally {
  for (const { database } of platforms) await database.close();
  for (const folder of folders) folder.remove();
}
