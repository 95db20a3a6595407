import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { SESSION_COOKIE } from '../src/api/session.ts';
import { openDatabase } from '../src/database/open.ts';
import { insertMember, insertOwnedAccount } from '../src/features/accounts/account-users/store.ts';
import { addSession } from '../src/features/identity/sessions/store.ts';
import { newBrowserToken } from '../src/features/identity/sessions/token.ts';
import { DAY_MS } from '../src/lib/durations.ts';
import { systemRandomness } from '../src/lib/ids.ts';
import { hashSecret } from '../src/secrets/random-secret.ts';
import { type ServedHomeport, serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { type Seeded, seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- streams`: open pages of the portal, each with its stream of live changes. Measures processor time of the server at rest
 * and for each write, without streams, with those of strangers, and with those of the account that changes. `--streams` sets their number.
 */
const { values: options } = parseArgs({
  options: { streams: { type: 'string', default: '200' } },
  strict: false,
});
const STREAMS = Number(options.streams);
const WRITES = 100;
const PAUSE_MS = 10;
const ROUNDS = 2;
const REST_MS = 5_000;

type Viewers = 'own' | 'strangers';

/** Adds users with a session each, and returns their tokens. Those of `own` belong to the account of the writes. */
async function addSessions(dataDir: string, { accountId }: Seeded, viewers: Viewers): Promise<string[]> {
  const database = openDatabase({ databaseUrl: null, dataDir }, pino({ level: 'silent' }));
  const created_at = new Date().toISOString();
  const tokens = Array.from({ length: STREAMS }, () => newBrowserToken(systemRandomness));
  await database.write(async ({ queries }) => {
    for (const token of tokens) {
      const user_id = randomUUID();
      await insertOwnedAccount(queries, {
        account: { id: randomUUID(), name: 'Stranger' },
        owner: { id: user_id, email: `${user_id}@bench.example`, first_name: 'B', last_name: 'B' },
        created_at,
      });
      if (viewers === 'own') {
        await insertMember(queries, {
          account_id: accountId,
          user_id,
          role: 'owner',
          billing: false,
          created_at,
        });
      }
      await addSession(queries, {
        id: randomUUID(),
        user_id,
        token_hash: hashSecret(token),
        awaits_second_factor: false,
        address: '127.0.0.1',
        user_agent: null,
        created_at,
        last_seen_at: created_at,
        expires_at: new Date(Date.now() + DAY_MS).toISOString(),
      });
    }
  });
  await database.close();
  return tokens;
}

/** Opens a stream for each token. Returns how to count the changes that all have received, and how to close them. */
async function openStreams({ origin, ca }: ServedHomeport, tokens: readonly string[]) {
  const dispatcher = new Agent({
    connect: { ca, servername: 'localhost' },
    bodyTimeout: 0,
    connections: null,
  });
  let changes = 0;
  for (const token of tokens) {
    const { statusCode, body } = await request(`${origin}/portal/api/events`, {
      dispatcher,
      headers: { cookie: `${SESSION_COOKIE}=${token}` },
    });
    if (statusCode !== 200) throw new Error(`no stream: ${statusCode} ${await body.text()}`);
    body.setEncoding('utf8').on('data', (text: string) => {
      changes += text.split('event: change').length - 1;
    });
    body.on('error', () => {});
  }
  return { changes: () => changes, close: () => dispatcher.destroy() };
}

/** Microseconds of the server's processor time for each write, and each 10 s at rest. */
async function measure(server: ServedHomeport, seeded: Seeded): Promise<{ write: number; rest: number }> {
  const dispatcher = new Agent({ connect: { ca: server.ca, servername: 'localhost' } });
  await sleep(1_000);
  const atRest = server.cpuMs();
  await sleep(REST_MS);
  const before = server.cpuMs();
  for (let n = 0; n < WRITES; n++) {
    const { statusCode, body } = await request(`${server.origin}/v1/sites`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: seeded.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench', account_id: seeded.accountId }),
    });
    await body.dump();
    if (statusCode !== 201) throw new Error(`a site was not created: ${statusCode}`);
    await sleep(PAUSE_MS);
  }
  await sleep(500);
  const after = server.cpuMs();
  await dispatcher.close();
  return { write: ((after - before) * 1_000) / WRITES, rest: before - atRest };
}

const folder = temporaryFolder();
try {
  const report = createReport('streams');
  report.part(`${STREAMS} open pages with live changes`);
  const seeded = await seedAccount({ databaseUrl: null, dataDir: folder.path }, 100);
  const viewers = {
    none: [],
    strangers: await addSessions(folder.path, seeded, 'strangers'),
    own: await addSessions(folder.path, seeded, 'own'),
  };
  const server = await serveHomeport(folder.path);
  const costs: Record<keyof typeof viewers, { write: number; rest: number }[]> = {
    none: [],
    strangers: [],
    own: [],
  };
  const memory: number[] = [];
  try {
    for (let round = -1; round < ROUNDS; round++) {
      for (const kind of ['none', 'strangers', 'own'] as const) {
        const streams = await openStreams(server, viewers[kind]);
        const cost = await measure(server, seeded);
        if (kind === 'own' && streams.changes() < WRITES * STREAMS) throw new Error('changes were not sent');
        if (kind === 'strangers' && streams.changes() > 0) throw new Error('strangers saw changes');
        if (round >= 0) costs[kind].push(cost);
        memory.push(server.residentMb());
        await streams.close();
      }
    }
  } finally {
    await server.stop();
  }
  const of = (kind: keyof typeof viewers, what: 'write' | 'rest') =>
    median(costs[kind].map((cost) => cost[what]));
  report.figure({
    what: 'a write, with streams of other accounts',
    value: of('strangers', 'write') / of('none', 'write'),
    unit: 'ratio',
    measured: `${of('strangers', 'write').toFixed(0)} µs`,
    beside: `${of('none', 'write').toFixed(0)} µs`,
    goal: { atMost: 1.2 },
  });
  report.figure({
    what: 'a write, for each stream of its account',
    value: (of('own', 'write') - of('none', 'write')) / STREAMS,
    unit: 'µs',
    goal: { atMost: 40 },
  });
  report.figure({
    what: `${REST_MS / 1_000} s at rest`,
    value: of('own', 'rest'),
    unit: 'ms',
    beside: `${of('none', 'rest')} ms without`,
    goal: { atMost: REST_MS / 50 },
  });
  report.figure({
    what: 'memory after the first and the last streams',
    value: memory.at(-1) ?? 0,
    unit: 'MB',
    beside: `${memory[0]?.toFixed(0)} MB`,
  });
  report.end();
  report.finish();
} finally {
  folder.remove();
}
