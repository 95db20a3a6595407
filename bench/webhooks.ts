import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { Agent, request } from 'undici';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median, shownMs } from './measure/units.ts';

/**
 * `npm run bench -- webhooks`: deliveries per second to a local receiver, and what they cost the requests of the API. Rounds with and
 * without webhooks alternate. In both, 100 changes and 100 reads a second are sent at a fixed pace. Runs on SQLite, or on the PostgreSQL
 * of HOMEPORT_DATABASE_URL, which should be empty.
 */
const WEBHOOKS = 10;
const CHANGES_PER_SECOND = 105;
const READS_PER_SECOND = 100;
const ROUND_SECONDS = 4;
const ROUNDS = 4;

const report = createReport('webhooks');
const toldSchema = Type.Object({
  port: Type.Optional(Type.Number()),
  delaysMs: Type.Optional(Type.Array(Type.Number())),
});
const createdSchema = Type.Object({ id: Type.String() });
const accountsSchema = Type.Object({ results: Type.Array(createdSchema) });

/** A receiver with the delays of the events that it got. */
async function startReceiver() {
  const child = fork(join(import.meta.dirname, 'servers/webhook-receiver.ts'));
  const delays: number[] = [];
  const listening = Promise.withResolvers<number>();
  child.on('message', (message) => {
    const { port, delaysMs = [] } = Value.Parse(toldSchema, message);
    if (port !== undefined) listening.resolve(port);
    delays.push(...delaysMs);
  });
  return { port: await listening.promise, delays, stop: () => child.disconnect() };
}

function clientOf(server: ServedHomeport) {
  const dispatcher = new Agent({ connect: { ca: server.ca }, connections: 32 });
  return async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> => {
    const answer = await request(`${server.origin}/v1${path}`, {
      dispatcher,
      method,
      headers: {
        authorization: server.authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed = await answer.body.json();
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(parsed)}`);
    return parsed;
  };
}

/** Calls `work` at a fixed pace, whether or not earlier calls have ended. */
async function atPace(perSecond: number, seconds: number, work: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    const waitMs = began + (n * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(work(n));
  }
  await Promise.all(running);
}

const folder = temporaryFolder();
const receiver = await startReceiver();
const server = await serveHomeport(folder.path, process.env.HOMEPORT_DATABASE_URL, {
  HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.1/32',
  HOMEPORT_WEBHOOK_HTTP: 'true',
});
try {
  const call = clientOf(server);
  const [account] = Value.Parse(accountsSchema, await call('GET', '/accounts')).results;
  if (!account) throw new Error('the bench has no account');
  const of = { account_id: account.id };
  const create = async (path: string, body: object) =>
    Value.Parse(createdSchema, await call('POST', path, body)).id;
  const site = await create('/sites', { ...of, name: 'Bench' });
  const webhooks: string[] = [];
  for (let n = 0; n < WEBHOOKS; n++) {
    const url = `http://127.0.0.1:${receiver.port}/${n}`;
    webhooks.push(await create('/webhooks', { ...of, url, event_types: ['site.updated'] }));
  }

  /** One round. Returns the times of its reads, and its deliveries per second. */
  async function round(enabled: boolean) {
    for (const id of webhooks) await call('PATCH', `/webhooks/${id}`, { enabled });
    const before = receiver.delays.length;
    const times: number[] = [];
    const began = performance.now();
    await Promise.all([
      atPace(CHANGES_PER_SECOND, ROUND_SECONDS, async (n) => {
        await call('PATCH', `/sites/${site}`, { name: `Bench ${n}` });
      }),
      atPace(READS_PER_SECOND, ROUND_SECONDS, async () => {
        const asked = performance.now();
        await call('GET', `/sites/${site}`);
        times.push(performance.now() - asked);
      }),
    ]);
    const expected = enabled ? WEBHOOKS * CHANGES_PER_SECOND * ROUND_SECONDS : 0;
    for (let tried = 0; tried < 1_000 && receiver.delays.length - before < expected; tried++) await sleep(10);
    const delivered = receiver.delays.length - before;
    return {
      times,
      perSecond: (delivered * 1_000) / (performance.now() - began),
      lost: expected - delivered,
    };
  }

  // Compiles, fills caches, and starts the sender.
  await round(true);
  receiver.delays.length = 0;
  type Round = Awaited<ReturnType<typeof round>>;
  const rounds: { on: Round[]; off: Round[] } = { on: [], off: [] };
  for (let n = 0; n < ROUNDS; n++) {
    rounds.off.push(await round(false));
    rounds.on.push(await round(true));
  }
  const medianOf = (of: typeof rounds.on) => median(of.map(({ times }) => median(times)));
  const [on, off] = [medianOf(rounds.on), medianOf(rounds.off)];
  const sorted = receiver.delays.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;

  report.part(`Deliveries to ${WEBHOOKS} webhooks of one receiver`);
  report.figure({
    what: 'deliveries per second',
    value: median(rounds.on.map(({ perSecond }) => perSecond)),
    unit: '/s',
    measured: `${CHANGES_PER_SECOND} changes a second`,
    goal: { atLeast: 1_000 },
  });
  report.figure({
    what: 'time of a read with deliveries, to that without',
    value: on / off,
    unit: 'ratio',
    measured: shownMs(on),
    beside: shownMs(off),
    goal: { atMost: 1.1 },
  });
  report.figure({
    what: 'from event to delivery, median',
    value: at(0.5),
    unit: 'ms',
    measured: `99 % within ${shownMs(at(0.99))}`,
    goal: { atMost: 50 },
  });
  report.figure({
    what: 'deliveries lost',
    value: rounds.on.reduce((sum, { lost }) => sum + lost, 0),
    unit: 'count',
    goal: { atMost: 0 },
  });
  report.end();
  report.finish();
} finally {
  await server.stop();
  receiver.stop();
  folder.remove();
}
