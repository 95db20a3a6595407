import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openDatabase } from '../src/database/open.ts';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport, REPORT_OPTIONS } from './measure/report.ts';
import { seedAccount } from './measure/seed.ts';

/**
 * The cost of `GET /operations/{id}?wait=60`: processor time of the server for each held request, among many and among a
 * tenth of them. Argument: how many (default 5,000). Each request
 * has its own TLS connection, so the cost includes the handshake. Needs `ulimit -n 65536`: the API gets an eighth of the descriptors.
 */
const [count = '5000'] = parseArgs({ options: REPORT_OPTIONS, allowPositionals: true }).positionals;
const MANY = Number(count);
const FEW = Math.ceil(MANY / 10);
/** Connections that are opened at once. */
const AT_ONCE = 50;
const WAIT_SECONDS = 60;
const report = createReport('operation-waits');

const folder = temporaryFolder();
const settings = { databaseUrl: null, dataDir: folder.path };
// A trusted proxy carries the connections of many clients, so the limit of one address does not apply.
const server = await serveHomeport(folder.path, undefined, { HOMEPORT_TRUST_PROXY: '127.0.0.1' });
const { authorization, accountId } = await seedAccount(settings, 1);
const database = openDatabase(settings, pino({ level: 'silent' }));

/** An operation that no worker begins. */
async function operation(): Promise<string> {
  const id = crypto.randomUUID();
  const created_at = new Date().toISOString();
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('jobs')
      .values({
        id,
        kind: 'purge_cache',
        lane: null,
        payload: '{}',
        max_attempts: 1,
        run_at: '2999-01-01T00:00:00.000Z',
        lease_until: null,
        worker_id: null,
        error: null,
        request_id: null,
        created_at,
        started_at: null,
        finished_at: null,
      })
      .execute();
    await queries
      .insertInto('operations')
      .values({
        id,
        kind: 'cache.purge',
        job_id: id,
        account_id: accountId,
        install_id: null,
        install_name: null,
        result: null,
        created_at,
      })
      .execute();
  });
  return id;
}

const end = (id: string) =>
  database.write(({ queries }) =>
    queries
      .updateTable('jobs')
      .set({ state: 'succeeded', finished_at: new Date().toISOString() })
      .where('id', '=', id)
      .execute(),
  );

/** Sends a request on a new connection. `answered` resolves with the status line. */
async function hold(id: string): Promise<{ socket: TLSSocket; answered: Promise<string> }> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect({ host: '127.0.0.1', port: Number(port), servername: hostname, ca: server.ca });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  const answered = new Promise<string>((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1').split('\r\n', 1)[0] ?? ''));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a held connection')));
  });
  answered.catch(() => {});
  socket.write(
    `GET /v1/operations/${id}?wait=${WAIT_SECONDS} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`,
  );
  return { socket, answered };
}

/** Processor time while the server does nothing else, in milliseconds of each second. */
async function resting({ cpuMs }: ServedHomeport): Promise<number> {
  const before = cpuMs();
  await sleep(5_000);
  return (cpuMs() - before) / 5;
}

async function untilQuiet({ cpuMs }: ServedHomeport): Promise<void> {
  for (let before = cpuMs(); ; before = cpuMs()) {
    await sleep(500);
    if (cpuMs() - before <= 20) return;
  }
}

/** Holds requests and ends their operation. Returns milliseconds of processor time. */
async function measure(requested: number): Promise<{ whole: number; held: number }> {
  const id = await operation();
  const before = server.cpuMs();
  const requests = [];
  for (let from = 0; from < requested; from += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, requested - from) }, () => hold(id));
    requests.push(...(await Promise.all(batch)));
  }
  await untilQuiet(server);
  const opened = server.cpuMs() - before;
  const held = await resting(server);
  const beforeEnd = server.cpuMs();
  await end(id);
  const statuses = await Promise.all(requests.map(({ answered }) => answered));
  const failed = statuses.find((status) => status !== 'HTTP/1.1 200 OK');
  if (failed !== undefined) throw new Error(`a held request was answered with ${failed}`);
  await untilQuiet(server);
  const whole = opened + server.cpuMs() - beforeEnd;
  for (const { socket } of requests) socket.destroy();
  return { whole, held };
}

try {
  await measure(FEW);
  report.part('Held requests: GET /operations/{id}?wait=60');
  const few = await measure(FEW);
  const many = await measure(MANY);
  const each = ({ whole }: { whole: number }, requests: number) => (1_000 * whole) / requests;
  report.figure({
    what: 'processor time of each held request, beside a tenth of them',
    value: each(many, MANY) / each(few, FEW),
    unit: 'ratio',
    measured: `${MANY} requests: ${Math.round(each(many, MANY))} µs with the handshake; ${many.held.toFixed(0)} ms/s while held`,
    beside: `${FEW} requests: ${Math.round(each(few, FEW))} µs; ${few.held.toFixed(0)} ms/s while held`,
    goal: { atMost: 1.3 },
  });
  report.end();
} finally {
  await database.close();
  await server.stop();
  folder.remove();
}
report.finish();
