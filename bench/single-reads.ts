import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { installSchema } from '../src/features/websites/installs/schema.ts';
import { freePort } from '../test/servers/free-port.ts';
import { answerOf, get, type Load, type LoadResult, run } from './measure/load.ts';
import {
  type Served,
  type ServedHomeport,
  serve,
  serveHomeport,
  temporaryFolder,
} from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- single-reads`: `GET /installs/{id}`, each time of an install at random, beside bare Fastify with the same JSON over TLS.
 * One round asks without and with other changes.
 */
const INSTALLS = 10_000;
const WRITES_PER_SECOND = 60;
const ROUNDS = 3;
const SECONDS = 3;
const report = createReport('single-reads');

/** A server that answers with the same JSON through the same schema, by the framework alone. */
async function serveBare(server: ServedHomeport, body: unknown, folder: string): Promise<Served> {
  const answerFile = join(folder, 'answer.json');
  writeFileSync(answerFile, JSON.stringify({ schema: installSchema, body }));
  const port = await freePort();
  const tls = (name: string) => join(server.dataDir, 'tls', name);
  return serve(
    [process.execPath, 'bench/servers/bare.ts', String(port), tls('api.crt'), tls('api.key'), answerFile],
    { origin: `https://localhost:${port}`, ca: () => server.ca },
  );
}

interface Writer {
  /** Writes so far. */
  count(): number;
  stop(): Promise<void>;
}

/** Creates sites at a steady rate. */
function startWriter(server: ServedHomeport, seeded: Seeded): Writer {
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  const began = performance.now();
  let ended = false;
  let writes = 0;
  const write = async () => {
    const { statusCode, body } = await request(`${server.origin}/v1/sites`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: seeded.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench', account_id: seeded.accountId }),
    });
    await body.dump();
    if (statusCode !== 201) throw new Error(`a site was not created: ${statusCode}`);
  };
  const writing = (async () => {
    for (; !ended; writes++) {
      await sleep(Math.max(0, began + (writes * 1000) / WRITES_PER_SECOND - performance.now()));
      await write();
    }
  })();
  return {
    count: () => writes,
    async stop() {
      ended = true;
      await writing;
      await dispatcher.close();
    },
  };
}

/** Milliseconds of the server's processor time for one write, without reads. */
async function costOfWrite(server: ServedHomeport, writer: Writer): Promise<number> {
  const [cpuMs, writes] = [server.cpuMs(), writer.count()];
  await sleep(SECONDS * 1000);
  return (server.cpuMs() - cpuMs) / (writer.count() - writes);
}

/**
 * The cost of a read beside writes, without that of the writes, in microseconds of processor time. It leaves out the same warm-up as the
 * cost without writes, so that it has no handshakes either.
 */
async function besideWrites(server: ServedHomeport, seeded: Seeded, load: Load): Promise<number> {
  const writer = startWriter(server, seeded);
  const writeMs = await costOfWrite(server, writer);
  const { cpuMicros } = await run(
    { ...load, cpuMs: () => server.cpuMs() - writer.count() * writeMs },
    SECONDS,
  );
  await writer.stop();
  return cpuMicros;
}

async function measure(server: ServedHomeport, seeded: Seeded, folder: string): Promise<void> {
  const { installIds, authorization } = seeded;
  const path = () => `/v1/installs/${installIds[Math.floor(Math.random() * installIds.length)]}`;
  const bare = await serveBare(server, await answerOf(server, path(), authorization), folder);
  const load = get(server, path, authorization);
  // The process has compiled its code, and keeps what it keeps.
  await run(load, SECONDS);
  const own: LoadResult[] = [];
  const framework: LoadResult[] = [];
  const beside: { cpuMicros: number; ratio: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await run(load, SECONDS);
    own.push(alone);
    const cpuMicros = await besideWrites(server, seeded, load);
    beside.push({ cpuMicros, ratio: cpuMicros / alone.cpuMicros });
    framework.push(await run(get(bare, path), SECONDS));
  }
  await bare.stop();
  const cost = (results: LoadResult[]) => median(results.map(({ cpuMicros }) => cpuMicros));
  report.figure({
    what: 'GET /installs/{id} at random, processor time',
    value: cost(framework) / cost(own),
    unit: 'ratio',
    measured: `${cost(own).toFixed(0)} µs`,
    beside: `bare Fastify ${cost(framework).toFixed(0)} µs`,
    goal: { atLeast: 0.25 },
  });
  report.figure({
    what: `GET /installs/{id} at random beside ${WRITES_PER_SECOND} writes a second, processor time`,
    value: median(beside.map(({ ratio }) => ratio)),
    unit: 'ratio',
    measured: `${median(beside.map(({ cpuMicros }) => cpuMicros)).toFixed(0)} µs`,
    beside: `without writes ${cost(own).toFixed(0)} µs`,
    goal: { atMost: 1.1 },
  });
}

const folder = temporaryFolder();
try {
  report.part('One install, at random');
  const settings = { databaseUrl: null, dataDir: folder.path };
  const seeded = await seedAccount(settings, INSTALLS);
  const server = await serveHomeport(folder.path);
  await measure(server, seeded, folder.path);
  await server.stop();
} finally {
  folder.remove();
}
report.end();
report.finish();
