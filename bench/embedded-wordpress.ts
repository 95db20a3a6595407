import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { freePort } from '../test/servers/free-port.ts';
import { run } from './measure/load.ts';
import { serveHomeport, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench:embedded-wordpress -- CORE [SOAK]`: WordPress in the embedded host, through its API and its edge. CORE is a folder with
 * WordPress 6.4 or newer, SOAK the number of requests of the soak, 5,000 by default. Linux only.
 */
const [core, soak = '5000'] = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const CREATIONS = 5;
const COLD = 2;
const PAIRS = 7;
const LOOK_MS = 10;
const CALM_MS = 2_000;
const PATIENCE_MS = 300_000;
/** A picture of one point. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

if (core === undefined) {
  process.stderr.write('Usage: npm run bench:embedded-wordpress -- CORE [SOAK]\n');
  process.exit(2);
}

const report = createReport('embedded-wordpress');
const folder = temporaryFolder();
const edgePort = await freePort();
const server = await serveHomeport(folder.path, undefined, {
  HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
  HOMEPORT_EMBEDDED_PHP_MB: '4000',
  HOMEPORT_WORDPRESS_SOURCE: core,
  HOMEPORT_INSTALL_RUNTIME: 'wordpress',
});
const [pid = 0] = children(process.pid);
const ids = new Map<string, string>();
const api = new Agent({ connect: { ca: server.ca } });
const edge = new Agent({ connections: 4, pipelining: 1 });
try {
  const accountId = String(Object(await call('GET', '/accounts')).results[0].id);
  await create('first', accountId);
  await untilCalm();
  const spare = phpProcesses();
  report.part('1. POST /installs to the first page of WordPress');
  const warm: number[] = [];
  for (let number = 1; number <= CREATIONS; number++) {
    warm.push(await create(`warm${number}`, accountId));
    await untilCalm();
  }
  const cold: number[] = [];
  for (let number = 1; number <= COLD; number++) {
    for (const { id } of phpProcesses()) process.kill(id, 'SIGKILL');
    await sleep(CALM_MS);
    cold.push(await create(`cold${number}`, accountId));
    await untilCalm();
  }
  const all = (times: number[]) => times.map((ms) => Math.round(ms)).join(', ');
  report.figure({
    what: 'with a warmed spare',
    value: median(warm),
    unit: 'ms',
    measured: all(warm),
    goal: { atMost: 1_500 },
  });
  report.figure({
    what: 'without a spare',
    value: median(cold),
    unit: 'ms',
    measured: all(cold),
    goal: { atMost: 5_000 },
  });
  report.end();
  await cachedBesideFile('warm1');
  await soaked('cold2', spare.length);
} finally {
  await Promise.all([api.close(), edge.close()]);
  await server.stop();
  folder.remove();
}
report.finish();

/** The median of pairs, each in another order, because the load of the machine changes. */
async function cachedBesideFile(name: string): Promise<void> {
  report.part('2. A cached page beside a static file of the same bytes, through the same edge');
  const { body } = await visit(name, '/');
  const file = '/wp-content/uploads/page.html';
  writeFileSync(join(folder.path, 'host/installs', idOf(name), 'files', file), body);
  const load = (path: string) => ({
    origin: `http://127.0.0.1:${edgePort}`,
    next: () => ({ method: 'GET' as const, path, headers: { host: hostOf(name) } }),
    expect: 200,
    connections: 8,
    cpuMs: server.cpuMs,
  });
  const costs: number[] = [];
  const rates: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const paths = pair % 2 === 0 ? ['/', file] : [file, '/'];
    const results = [];
    for (const path of paths) results.push(await run(load(path), 2));
    const [page, plain] = pair % 2 === 0 ? results : results.toReversed();
    if (page === undefined || plain === undefined) throw new Error('nothing was measured');
    costs.push(page.cpuMicros / plain.cpuMicros);
    rates.push(plain.perSecond / page.perSecond);
  }
  const shownAll = (ratios: number[]) => ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  report.figure({
    what: 'processor time',
    value: median(costs),
    unit: 'ratio',
    measured: shownAll(costs),
    goal: { atMost: 1.1 },
  });
  report.figure({ what: 'time', value: median(rates), unit: 'ratio', measured: shownAll(rates) });
  report.end();
}

/** A mix of what visitors and an administrator do. */
async function soaked(name: string, spares: number): Promise<void> {
  report.part(`3. ${soak} requests to one website`);
  const { cookie, nonce } = await administrator(name);
  const json = { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' };
  const kinds: ((number: number) => Promise<{ status: number }>)[] = [
    () => visit(name, '/'),
    () => visit(name, '/hello-world/'),
    (number) => visit(name, `/?soak=${number}`),
    () => visit(name, '/wp-login.php', { headers: { cookie: 'wordpress_test_cookie=1' } }),
    () => visit(name, '/wp-json/wp/v2/posts'),
    () => visit(name, '/wp-includes/css/dashicons.min.css'),
    (number) =>
      visit(name, '/wp-json/wp/v2/posts', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ title: `Soak ${number}`, status: number % 20 === 6 ? 'publish' : 'draft' }),
      }),
    (number) =>
      visit(name, '/wp-comments-post.php', {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ comment: `Soak ${number}`, comment_post_ID: '1' }).toString(),
      }),
    (number) =>
      visit(name, '/wp-json/wp/v2/media', {
        method: 'POST',
        headers: {
          ...json,
          'content-type': 'image/png',
          'content-disposition': `attachment; filename="soak${number}.png"`,
        },
        body: PICTURE,
      }),
    () => visit(name, '/wp-admin/', { headers: { cookie } }),
  ];
  const statuses = new Map<number, number>();
  const readings: ReturnType<typeof reading>[] = [];
  const count = Number(soak);
  for (let number = 0; number < count; number++) {
    const { status } = (await kinds[number % kinds.length]?.(number)) ?? { status: 0 };
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    // The first tenth fills caches.
    if ((number + 1) % Math.ceil(count / 10) === 0) {
      readings.push(reading());
      process.stderr.write(`${number + 1} requests: ${JSON.stringify(readings.at(-1))}\n`);
    }
  }
  const [before, after] = [readings[0], readings.at(-1)];
  if (before === undefined || after === undefined) throw new Error('there was no request');
  const failures = [...statuses].filter(([status]) => status >= 500 || status === 0);
  report.figure({
    what: 'answers of 5xx, or none',
    value: failures.reduce((sum, [, number]) => sum + number, 0),
    unit: 'count',
    measured: [...statuses].map(([status, number]) => `${number} × ${status}`).join(', '),
    goal: { atMost: 0 },
  });
  report.figure({
    what: 'memory of its process with one thread',
    value: after.phpMb,
    unit: 'MB',
    measured: readings.map(({ phpMb }) => phpMb).join(', '),
    goal: { atMost: 320 },
  });
  report.figure({
    what: 'its open files',
    value: after.phpFiles - before.phpFiles,
    unit: 'count',
    measured: readings.map(({ phpFiles }) => phpFiles).join(', '),
    goal: { atMost: 0 },
  });
  report.figure({
    what: 'memory of Homeport',
    value: after.ownMb,
    unit: 'MB',
    measured: readings.map(({ ownMb }) => ownMb).join(', '),
  });
  report.figure({
    what: 'its open files (Homeport)',
    value: after.ownFiles - before.ownFiles,
    unit: 'count',
    measured: readings.map(({ ownFiles }) => ownFiles).join(', '),
    goal: { atMost: 2 },
  });
  await Promise.all(Array.from({ length: 40 }, (_, number) => visit(name, `/?two=${number}`)));
  report.figure({
    what: 'memory of its process with two threads',
    value: reading().phpMb,
    unit: 'MB',
    goal: { atMost: 440 },
  });
  report.note('The memory of Homeport grows with its cache of pages, up to a limit.');
  report.note(`Processes of PHP at rest before the first website: ${spares}.`);
  report.end();
}

/** The process of the website is the one that has used the most processor time. */
function reading() {
  const [most] = phpProcesses().toSorted((one, other) => other.cpuMs - one.cpuMs);
  if (most === undefined) throw new Error('no process of PHP runs');
  return {
    phpMb: most.megabytes,
    phpFiles: filesOf(most.id),
    ownMb: Math.round(server.residentMb()),
    ownFiles: filesOf(pid),
  };
}

/** Creates an install and asks for its front page until it is there. Returns the milliseconds. */
async function create(name: string, accountId: string): Promise<number> {
  const began = performance.now();
  const creating = call('POST', '/installs', { name, account_id: accountId });
  for (;;) {
    const { status, body } = await visit(name, '/').catch(() => ({ status: 0, body: '' }));
    if (status === 200 && body.includes('/wp-content/') && body.includes('</html>')) break;
    if (performance.now() - began > PATIENCE_MS) throw new Error(`${name} did not answer: ${status} ${body}`);
    await sleep(LOOK_MS);
  }
  const ms = performance.now() - began;
  ids.set(name, String(Object(await creating).id));
  process.stderr.write(`${name}: ${Math.round(ms)} ms\n`);
  return ms;
}

function idOf(name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`there is no install ${name}`);
  return id;
}

/** Signs in to WordPress with a link, as a browser would. */
async function administrator(name: string): Promise<{ cookie: string; nonce: string }> {
  const link = Object(await call('POST', `/installs/${idOf(name)}/wordpress/login_links`, {}));
  const { pathname, search } = new URL(String(link.url));
  const { headers } = await visit(name, pathname + search);
  const given = [headers['set-cookie'] ?? []].flat().map((one) => one.split(';', 1)[0] ?? '');
  if (given.length === 0) throw new Error('the link did not sign in');
  const cookie = given.join('; ');
  const { body } = await visit(name, '/wp-admin/admin-ajax.php?action=rest-nonce', { headers: { cookie } });
  return { cookie, nonce: body };
}

async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
  const answer = await request(`${server.origin}/v1${path}`, {
    dispatcher: api,
    method,
    headers: { authorization: server.authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}

interface Visit {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
}

async function visit(name: string, path: string, { headers = {}, ...more }: Visit = {}) {
  const answer = await request(`http://127.0.0.1:${edgePort}${path}`, {
    dispatcher: edge,
    method: 'GET',
    headers: { host: hostOf(name), ...headers },
    ...more,
  });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

function hostOf(name: string): string {
  return `${name}.localhost:${edgePort}`;
}

/** Waits until no process of PHP has anything to do, so that the spare is warm. */
async function untilCalm(): Promise<void> {
  const used = () => phpProcesses().reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  for (let before = -1, calm = 0; calm < 3; ) {
    await sleep(CALM_MS);
    const now = used();
    calm = phpProcesses().length > 0 && now - before <= 30 ? calm + 1 : 0;
    before = now;
  }
}

/** The processes that run PHP, without those around them. */
function phpProcesses(): { id: number; cpuMs: number; megabytes: number }[] {
  return descendants(pid).flatMap((id) => {
    try {
      const arguments_ = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      if (!arguments_.some((word) => word.endsWith('/process/main.ts')) || arguments_.includes('--clearenv'))
        return [];
      const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
      const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10;
      return [{ id, cpuMs, megabytes: Math.round(Number(memory) / 1024) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

function descendants(id: number): number[] {
  return children(id).flatMap((child) => [child, ...descendants(child)]);
}

function children(id: number): number[] {
  try {
    const threads = readdirSync(`/proc/${id}/task`);
    return threads.flatMap((thread) =>
      readFileSync(`/proc/${id}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function filesOf(id: number): number {
  return readdirSync(`/proc/${id}/fd`).length;
}
