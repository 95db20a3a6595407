import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { freePort } from '../test/servers/free-port.ts';
import { findPostgres, startPostgres } from '../test/servers/postgres-server.ts';
import { serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport, type Goal } from './measure/report.ts';
import { median, shownMs } from './measure/units.ts';

/**
 * `npm run bench:embedded -- restart`: the downtime of a website of the embedded host, on SQLite and on PostgreSQL. It begins with a
 * SIGKILL of the process, which is restarted at once, and ends with the first page.
 */
const ROUNDS = 9;
const WEBSITE_GOAL_MS = 3_000;
const LOOK_EVERY_MS = 10;
const GIVE_UP_MS = 60_000;

interface Outage {
  /** Milliseconds until the website answers. */
  website: number;
  /** Milliseconds until the API answers. */
  api: number;
}

function statusOf(port: number, host: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = httpRequest({ host: '127.0.0.1', port, headers: { host }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', () => resolve(0));
    asked.end();
  });
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < GIVE_UP_MS; await sleep(LOOK_EVERY_MS)) {
    if (await look()) return;
  }
  throw new Error('the server did not restart');
}

async function measure(dataDir: string, databaseUrl?: string): Promise<Outage[]> {
  const edge = await freePort();
  const first = await serveHomeport(dataDir, databaseUrl, {
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${edge}`,
    HOMEPORT_SITE_DOMAIN: 'sites.test',
  });
  const agent = new Agent({ connect: { ca: first.ca } });
  const headers = { authorization: first.authorization, 'content-type': 'application/json' };
  const accountId = await (async () => {
    // The first credential is created after the API listens.
    let found: unknown;
    await until(async () => {
      const answer = await request(`${first.origin}/v1/accounts`, { dispatcher: agent, headers });
      found = Object(await answer.body.json()).results?.[0]?.id;
      return found !== undefined;
    });
    return found;
  })();
  const made = await request(`${first.origin}/v1/installs`, {
    dispatcher: agent,
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'restarted', account_id: accountId }),
  });
  if (made.statusCode >= 300) throw new Error(`no install: ${made.statusCode} ${await made.body.text()}`);
  await made.body.dump();
  const website = async () => (await statusOf(edge, 'restarted.sites.test')) === 200;
  const api = async () => {
    const answer = await request(`${first.origin}/v1/status`, { dispatcher: agent }).catch(() => null);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  };
  await until(website);
  await first.stop();

  const begin = () =>
    spawn(process.execPath, ['bin/homeport.mjs', 'serve'], {
      env: { ...process.env, ...first.env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  let server: ChildProcess = begin();
  await until(website);
  await until(api);
  const outages: Outage[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      // By then it has registered as a worker, as a server in normal operation has.
      await sleep(2_000);
      const killed = performance.now();
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      server = begin();
      await until(website);
      const websiteMs = performance.now() - killed;
      await until(api);
      outages.push({ website: websiteMs, api: performance.now() - killed });
    }
    return outages;
  } finally {
    server.kill('SIGKILL');
    await agent.close();
  }
}

async function measureIn(databaseUrl?: string): Promise<Outage[]> {
  const folder = temporaryFolder();
  try {
    return await measure(folder.path, databaseUrl);
  } finally {
    folder.remove();
  }
}

const report = createReport('restart');
report.part(`Outage after a kill, median of ${ROUNDS}`);
const add = (on: string, outages: Outage[]) => {
  const row = (what: string, times: number[], goal?: Goal) =>
    report.figure({
      what: `${what}, ${on}`,
      value: median(times),
      unit: 'ms',
      measured: `${shownMs(Math.min(...times))} to ${shownMs(Math.max(...times))}`,
      ...(goal === undefined ? {} : { goal }),
    });
  row(
    'website',
    outages.map(({ website }) => website),
    { atMost: WEBSITE_GOAL_MS },
  );
  row(
    'API',
    outages.map(({ api }) => api),
  );
};
add('SQLite', await measureIn());
const binaries = findPostgres();
if (binaries === undefined) process.stderr.write('PostgreSQL is not installed, so it is left out.\n');
else {
  const postgres = await startPostgres(binaries);
  try {
    add('PostgreSQL', await measureIn(postgres.url));
  } finally {
    await postgres.stop();
  }
}
report.end();
report.finish();
