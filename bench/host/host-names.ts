import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { ListenAddress } from '../../src/config/settings/setting-values.ts';
import { EDGE_SIZES } from '../../src/hosting/linux/nginx/edge-options.ts';
import type { Vhost } from '../../src/hosting/linux/nginx/vhost.ts';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';
import { mapConcurrent } from '../../src/lib/concurrency.ts';
import { visit } from '../../test/edge.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, shownRate, timed } from '../measure/units.ts';
import { memoryOf, nginxOf, processorMs } from './footprint.ts';
import { type BenchWebServer, withWebServer } from './web-server.ts';
import { wrk } from './wrk.ts';

/** The part of the names that have a certificate, each with another key. */
const CERTIFIED = 0.3;
/** Names that visitors ask for often, with and without certificates. */
const OFTEN = { requests: 1_000, handshakes: 100 };
const CONNECTIONS = 32;
const MEGABYTE = 2 ** 20;

/** A rate, and the processor time of nginx for each, in microseconds. */
interface Rate {
  perSecond: number;
  micros: number;
}

interface Costs {
  names: number;
  certificates: number;
  /** Milliseconds of the start of a host whose files are all right. */
  restart: number;
  /** Milliseconds until the first visitor of another name of a website is served. */
  changes: number[];
  /** Requests while names change all the time, so that every row is read again. */
  cold: Rate;
  warm: Rate;
  /** Handshakes with certificates that are not parsed; null if nginx keeps all of them parsed. */
  coldHandshakes: Rate | null;
  warmHandshakes: Rate;
  /** Bytes. */
  memory: number;
}

interface Effort {
  changes: number;
  seconds: number;
}

/** The edge with few host names and with many: changes, requests, handshakes and memory. */
export async function benchHostNames({ report, quick }: Run): Promise<void> {
  const counts = quick ? [10, 100] : [10, 100, 1_000, 10_000];
  const effort = quick ? { changes: 5, seconds: 1 } : { changes: 40, seconds: 4 };
  progress('starting nginx');
  const all = await withWebServer(async (server) => {
    const vhosts: Vhost[] = [];
    const costs: Costs[] = [];
    for (const count of counts) {
      progress(`${count} names: making websites`);
      while (vhosts.length < count) vhosts.push(await website(server, vhosts.length));
      costs.push(await measure(server, vhosts, effort));
    }
    return costs;
  });

  report.part('Host names at the edge, one website each, three of ten with a certificate');
  for (const { names, changes, memory } of all) {
    const much = names.toLocaleString('en');
    report.figure({
      what: `${much} names: one more until served, median of ${changes.length}`,
      value: median(changes),
      unit: 'ms',
      measured: `at most ${shownMs(Math.max(...changes))}`,
      goal: { atMost: 100 },
    });
    report.figure({
      what: `${much} names: memory of nginx`,
      value: memory / MEGABYTE,
      unit: 'MB',
      goal: { atMost: 120 },
    });
  }
  report.grid(
    [
      ...['NAMES', 'CERTIFICATES', 'NEXT START', 'REQUESTS, COLD', 'REQUESTS, WARM'],
      ...['HANDSHAKES, COLD', 'HANDSHAKES, WARM'],
    ],
    all.map(({ names, certificates, restart, cold, warm, coldHandshakes, warmHandshakes }) => [
      names.toLocaleString('en'),
      certificates.toLocaleString('en'),
      shownMs(restart),
      ...[cold, warm, coldHandshakes, warmHandshakes].map(shownCosts),
    ]),
  );
  report.note('In brackets: processor time of nginx for one. Memory is PSS after all names were visited.');
  report.note('Next start: until a host that starts again has compared all files. nginx serves meanwhile.');
  report.note(
    `Cold requests: names change all the time, so that every row is read again. Warm: ${OFTEN.requests} names at most.`,
  );
  report.note(
    `Cold handshakes: more certificates than nginx keeps parsed. Warm: ${OFTEN.handshakes} names at most.`,
  );
  report.end();
}

/** A website of one file. */
async function website({ layout, machine }: BenchWebServer, index: number): Promise<Vhost> {
  const state = plainState(`bench-name-${index}`);
  const root = layout.htdocsOf(state.id);
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'index.html'), `<!doctype html><title>${state.name}</title>`);
  if (Math.floor((index + 1) * CERTIFIED) > Math.floor(index * CERTIFIED)) {
    const make = { names: [state.primaryHostname], notBefore: new Date(), days: 90 };
    const { chain, key, notAfter } = await createSelfSigned(make);
    const certificate = { chain, key, notAfter: notAfter.toISOString() };
    state.hostnames = state.hostnames.map((hostname) => ({ ...hostname, certificate }));
  }
  return { state, uid: machine.config.hostUids.first, wordpressVersion: '6.8' };
}

async function measure(server: BenchWebServer, vhosts: Vhost[], effort: Effort): Promise<Costs> {
  const { web, machine } = server;
  const { edgeHttp, edgeHttps } = machine.config;
  const names = vhosts.map(({ state }) => state.primaryHostname);
  const certified = vhosts.filter(({ state }) => state.hostnames.some(({ certificate }) => certificate));
  const certifiedNames = certified.map(({ state }) => state.primaryHostname);
  progress(`${names.length} names: the first start took ${shownMs(await timed(() => web.start(vhosts)))}`);
  await web.stop();
  const restart = await timed(() => web.start(vhosts));
  const master = await nginxOf(machine);
  const changes = await timeChanges(server, vhosts, effort.changes);
  progress(`${names.length} names: load`);
  const often = names.slice(0, OFTEN.requests);
  const load = (some: string[], seconds: number) => requests(server, edgeHttp, master, some, seconds);
  const cold = await whileNamesChange(server, () => load(names, effort.seconds));
  // Also visits all names, for the memory.
  await load(names, effort.seconds);
  await load(often, 1);
  const warm = await load(often, effort.seconds);
  const shake = (some: string[], seconds: number) => handshakes(edgeHttps, master, some, seconds);
  const coldHandshakes =
    certified.length > EDGE_SIZES.certificates ? await shake(certifiedNames, effort.seconds) : null;
  const seldom = certifiedNames.slice(0, OFTEN.handshakes);
  await shake(seldom, 1);
  const warmHandshakes = await shake(seldom, effort.seconds);
  const { nginx: memory } = await memoryOf(machine);
  return {
    names: names.length,
    certificates: certified.length,
    restart,
    changes,
    cold,
    warm,
    coldHandshakes,
    warmHandshakes,
    memory,
  };
}

/** Adds a name to websites, one after the other, and asks for it. */
async function timeChanges({ web, machine }: BenchWebServer, vhosts: Vhost[], count: number) {
  const { edgeHttp, edgeHttps, sshListen: ssh } = machine.config;
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const vhost = vhosts[Math.floor((n * vhosts.length) / count)];
    if (vhost === undefined) continue;
    const name = `more-${n}.${vhost.state.primaryHostname}`;
    const more = { name, redirectTo: null, forceHttps: false, certificate: null };
    const hostnames = [...vhost.state.hostnames, more];
    times.push(
      await timed(async () => {
        await web.put({ ...vhost, state: { ...vhost.state, hostnames } });
        const { status } = await visit({ hosting: { edgeHttp, edgeHttps, ssh } }, `http://${name}/`);
        if (status !== 200) throw new Error(`${name} is not served: ${status}`);
      }),
    );
  }
  return times;
}

async function requests(
  { layout }: BenchWebServer,
  address: ListenAddress,
  master: number,
  names: string[],
  seconds: number,
): Promise<Rate> {
  const script = join(layout.runFolder, 'names.lua');
  await writeFile(
    script,
    `local requests = {}
for _, name in ipairs({ ${names.map((name) => `"${name}"`).join(', ')} }) do
  requests[#requests + 1] = "GET / HTTP/1.1\\r\\nHost: " .. name .. "\\r\\n\\r\\n"
end
function init() math.randomseed(os.time()) end
function request() return requests[math.random(#requests)] end
`,
  );
  const before = await processorMs(master);
  const load = { address, hostname: names[0] ?? '', script, connections: CONNECTIONS, seconds };
  const { perSecond, requests: count } = await wrk(load);
  return { perSecond, micros: (((await processorMs(master)) - before) * 1000) / count };
}

async function whileNamesChange<Result>(
  { control }: BenchWebServer,
  work: () => Promise<Result>,
): Promise<Result> {
  let isOver = false;
  const changing = (async () => {
    while (!isOver) await control.namesChanged();
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await changing;
  }
}

/** Full handshakes with TLS 1.3, by a client in this process. */
async function handshakes(
  { host, port }: ListenAddress,
  master: number,
  names: string[],
  seconds: number,
): Promise<Rate> {
  const before = await processorMs(master);
  const until = performance.now() + seconds * 1000;
  let count = 0;
  await mapConcurrent(Array.from({ length: CONNECTIONS }), CONNECTIONS, async () => {
    while (performance.now() < until) {
      const servername = names[Math.floor(Math.random() * names.length)] ?? '';
      const socket = connect({ host, port, servername, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      socket.destroy();
      count++;
    }
  });
  return { perSecond: count / seconds, micros: (((await processorMs(master)) - before) * 1000) / count };
}

function shownCosts(rate: Rate | null): string {
  return rate === null ? '' : `${shownRate(rate.perSecond)} (${rate.micros.toFixed(0)} µs)`;
}
