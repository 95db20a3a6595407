import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { parseArgs } from 'node:util';
import type { ServedCertificate } from '../src/hosting/contract/install-state.ts';
import { nextGenerations } from '../src/hosting/embedded/host-folder/generations.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';
import { parseVhostFile, vhostFileFor } from '../src/hosting/embedded/host-folder/vhost.ts';
import { createSelfSigned } from '../src/lib/certificates/self-signed-certificate.ts';
import { MINUTE_MS } from '../src/lib/durations.ts';
import { createSealer } from '../src/secrets/sealer.ts';
import { freePort } from '../test/servers/free-port.ts';
import { type Served, serve, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench:embedded -- edge-names`: what the embedded edge needs with 1,000 and with 10,000 host names, each of an install of its own.
 * Processor time of the edge: requests, handshakes, a changed website, a start, and a minute at rest. `--few` and `--many` set the sizes.
 */
const { values: options } = parseArgs({
  options: { few: { type: 'string', default: '1000' }, many: { type: 'string', default: '10000' } },
  strict: false,
});
const FEW = Number(options.few);
const MANY = Number(options.many);
/** Certificates are expensive to create, so names share them. The edge keeps a context for each name anyway. */
const DISTINCT = 20;
const QUIET_MS = 30_000;
/** 3 % of a processor. */
const REST_GOAL_MS = 1_800;
/** Names whose files and certificates are all in memory after the first round. */
const KNOWN = 200;
const ROUNDS = 3;
const REQUESTS = 4_000;
const HANDSHAKES = 400;
const CHANGES = 100;
const AT_ONCE = 8;

interface Subject {
  folder: string;
  ids: string[];
  server: Served;
  ports: { http: number; https: number };
}

const nameOf = (n: number) => `www.customer-${n}.test`;

async function makeCertificates(): Promise<ServedCertificate[]> {
  const made: ServedCertificate[] = [];
  for (let n = 0; n < DISTINCT; n++) {
    const { chain, key, notAfter } = await createSelfSigned({
      names: [nameOf(n)],
      notBefore: new Date(),
      days: 90,
    });
    // As long as an authority's chain.
    made.push({ chain: chain + chain, key, notAfter: notAfter.toISOString() });
  }
  return made;
}

function seed(folder: string, size: number, certificates: ServedCertificate[]): string[] {
  const key = randomBytes(32);
  const layout = layoutOf(folder);
  const sealer = createSealer(key);
  mkdirSync(layout.vhosts, { recursive: true });
  writeFileSync(join(folder, 'sealing-key'), key);
  const generations = nextGenerations(null, Date.now());
  return Array.from({ length: size }, (_, n) => {
    const id = randomUUID();
    const certificate = certificates[n % DISTINCT] ?? null;
    const hostname = { name: nameOf(n), redirectTo: null, forceHttps: false, certificate };
    const file = vhostFileFor(
      { id, name: `customer-${n}`, hostnames: [hostname], offload: null },
      generations,
      sealer,
    );
    writeFileSync(layout.vhostOf(id), JSON.stringify(file, null, 1));
    mkdirSync(layout.filesOf(id), { recursive: true });
    writeFileSync(join(layout.filesOf(id), 'index.html'), `<p>${n}</p>`.padEnd(1_000));
    return id;
  });
}

async function start(folder: string, ids: string[]): Promise<Subject> {
  const ports = { http: await freePort(), https: await freePort() };
  const command = [
    process.execPath,
    'bench/servers/edge.ts',
    folder,
    String(ports.http),
    String(ports.https),
  ];
  return { folder, ids, server: await serve(command, { origin: `http://127.0.0.1:${ports.http}` }), ports };
}

/** Microseconds of the edge's processor time for each run of `work`. */
async function costOf(
  { server }: Subject,
  count: number,
  work: (n: number) => Promise<void>,
): Promise<number> {
  const before = server.cpuMs();
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (done < count) await work(done++);
    }),
  );
  return ((server.cpuMs() - before) * 1_000) / count;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

async function statusOf(port: number, host: string): Promise<number> {
  const asked = request({ host: '127.0.0.1', port, headers: { host }, agent }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

async function visit(port: number, host: string): Promise<void> {
  const status = await statusOf(port, host);
  if (status !== 200) throw new Error(`${host}: ${status}`);
}

// One context for all, because creating it costs the client more than the handshake. Certificates are not verified.
const secureContext = createSecureContext({ minVersion: 'TLSv1.3' });

async function handshake(port: number, servername: string): Promise<void> {
  const socket = tlsConnect({
    host: '127.0.0.1',
    port,
    servername,
    secureContext,
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  const closed = once(socket, 'close');
  socket.resume().end();
  await closed;
}

/** Writes the file of a website as another process does, and waits until the edge serves it. */
async function change({ folder, ids, ports }: Subject, n: number): Promise<void> {
  const place = layoutOf(folder).vhostOf(ids[n] ?? '');
  const file = parseVhostFile(readFileSync(place, 'utf8'));
  const name = `added-${randomInt(1e9)}.test`;
  const added = { name, redirectTo: null, forceHttps: false, certificate: null };
  writeFileSync(
    `${place}.next`,
    JSON.stringify({ ...file, hostnames: [...file.hostnames.slice(0, 1), added] }, null, 1),
  );
  renameSync(`${place}.next`, place);
  while ((await statusOf(ports.http, name)) !== 200) await sleep(2);
}

const folders = [temporaryFolder(), temporaryFolder()] as const;
const servers: Served[] = [];
try {
  const certificates = await makeCertificates();
  const seeded = [
    seed(folders[0].path, FEW, certificates),
    seed(folders[1].path, MANY, certificates),
  ] as const;
  const report = createReport('edge-names');
  report.part(
    `The embedded edge with ${MANY.toLocaleString('en')} host names beside ${FEW.toLocaleString('en')}`,
  );
  const starts: number[][] = [];
  const subjects: Subject[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pair: number[] = [];
    for (const at of [0, 1] as const) {
      const subject = await start(folders[at].path, seeded[at]);
      pair.push(subject.server.cpuMs());
      if (round < ROUNDS - 1) await subject.server.stop();
      else {
        subjects.push(subject);
        servers.push(subject.server);
      }
    }
    starts.push(pair);
  }
  const [few, many] = subjects;
  if (few === undefined || many === undefined) throw new Error('no edge was started');
  const memory = subjects.map(({ server }) => server.residentMb());
  const perName = ((memory[1] ?? 0) - (memory[0] ?? 0)) / (MANY - FEW);
  report.figure({
    what: 'memory of a host name',
    value: perName * 1024,
    unit: 'kB',
    measured: `${memory[0]?.toFixed(0)} and ${memory[1]?.toFixed(0)} MB`,
  });
  const startOf = (at: number) => median(starts.map((pair) => pair[at] ?? 0));
  report.figure({
    what: 'start, each further host name',
    value: ((startOf(1) - startOf(0)) / (MANY - FEW)) * 1_000,
    unit: 'µs',
    measured: `${startOf(0)} and ${startOf(1)} ms`,
  });
  const any = ({ ids }: Subject) => nameOf(randomInt(ids.length));
  const known = () => nameOf(randomInt(KNOWN));
  const works: {
    what: string;
    count: number;
    goal?: number;
    work(subject: Subject, n: number): Promise<void>;
  }[] = [
    {
      what: `request for one of ${KNOWN} names`,
      count: REQUESTS,
      goal: 1.3,
      work: ({ ports }) => visit(ports.http, known()),
    },
    {
      what: 'request for a name at random',
      count: REQUESTS,
      work: (subject) => visit(subject.ports.http, any(subject)),
    },
    {
      what: `handshake with one of ${KNOWN} names`,
      count: HANDSHAKES,
      goal: 1.3,
      work: ({ ports }) => handshake(ports.https, known()),
    },
    {
      what: 'handshake with a name at random',
      count: HANDSHAKES,
      work: (subject) => handshake(subject.ports.https, any(subject)),
    },
    { what: 'changed website, until served', count: CHANGES, goal: 1.3, work: change },
  ];
  for (const { what, count, goal, work } of works) {
    const costs: number[][] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const pair: number[] = [];
      for (const subject of [few, many]) pair.push(await costOf(subject, count, (n) => work(subject, n)));
      if (round >= 0) costs.push(pair);
    }
    const of = (at: number) => median(costs.map((pair) => pair[at] ?? 0));
    report.figure({
      what,
      value: of(1) / of(0),
      unit: 'ratio',
      measured: `${of(1).toFixed(0)} µs`,
      beside: `${of(0).toFixed(0)} µs`,
      ...(goal === undefined ? {} : { goal: { atMost: goal } }),
    });
  }
  // The work of the start has ended by then, and logs that stay quiet wait longest.
  await sleep(QUIET_MS);
  const before = subjects.map(({ server }) => server.cpuMs());
  await sleep(MINUTE_MS);
  const atRest = subjects.map(({ server }, at) => server.cpuMs() - (before[at] ?? 0));
  report.figure({
    what: 'a minute at rest',
    value: atRest[1] ?? 0,
    unit: 'ms',
    beside: `${atRest[0]} ms`,
    goal: { atMost: REST_GOAL_MS },
  });
  report.end();
  report.finish();
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  for (const folder of folders) folder.remove();
}
