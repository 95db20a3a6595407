import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nextGenerations } from '../src/hosting/embedded/host-folder/generations.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';
import { vhostFileFor } from '../src/hosting/embedded/host-folder/vhost.ts';
import { createSelfSigned } from '../src/lib/certificates/self-signed-certificate.ts';
import { runCommand } from '../src/lib/run-command.ts';
import { createSealer } from '../src/secrets/sealer.ts';
import { freePort } from '../test/servers/free-port.ts';
import { type Served, serve, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench:embedded -- static-files`: processor time of the edge beside Caddy and nginx that serve the same bytes. One file has 9 kB, the
 * other is CSS of 114 kB that is compressed. All three write an access log, and Caddy also runs without one. Over TLS, a bare server of Node
 * answers with the same bytes. All have a key of P-256. Needs Debian's `caddy`, `nginx` and `nghttp2-client`, which sends the load.
 */
const NAME = 'www.shop.test';
const SMALL = randomBytes(6_750).toString('base64');
/** Words in a random order, which compress like CSS. */
const LARGE = Array.from({ length: 9_500 }, () => `.c${randomBytes(1).toString('hex')}{top:1}`).join('\n');
const REQUESTS = 20_000;
const ROUNDS = 5;
const PROGRAMS = { caddy: '/usr/bin/caddy', nginx: '/usr/sbin/nginx', h2load: '/usr/bin/h2load' };

const KINDS = [
  { what: 'HTTP/1.1', scheme: 'http', options: ['--h1'] },
  { what: 'HTTP/1.1 over TLS', scheme: 'https', options: ['--h1'] },
  { what: 'HTTP/2', scheme: 'https', options: ['-m4'] },
] as const;

interface Subject {
  server: Served;
  ports: { http: number; https: number };
}

/** A server beside the edge, and the most that the edge may cost as its part. */
interface Peer {
  what: string;
  subject: Subject;
  atMost?: number;
  /** For others it has no answer. */
  only?: (typeof KINDS)[number];
}

const folder = temporaryFolder();
const pem = join(folder.path, 'certificate.pem');
const key = join(folder.path, 'key.pem');
const www = join(folder.path, 'www');

async function prepare(): Promise<void> {
  const made = await createSelfSigned({ names: [NAME], notBefore: new Date(), days: 30 });
  writeFileSync(pem, made.chain);
  writeFileSync(key, made.key);
  mkdirSync(www);
  for (const [name, content] of Object.entries({ 'small.css': SMALL, 'large.css': LARGE })) {
    writeFileSync(join(www, name), content);
  }
}

async function serveEdge(): Promise<Subject> {
  const ports = { http: await freePort(), https: await freePort() };
  const place = join(folder.path, 'edge');
  const layout = layoutOf(place);
  const sealingKey = randomBytes(32);
  mkdirSync(layout.vhosts, { recursive: true });
  writeFileSync(join(place, 'sealing-key'), sealingKey);
  const id = crypto.randomUUID();
  const made = await createSelfSigned({ names: [NAME], notBefore: new Date(), days: 30 });
  const certificate = { chain: made.chain, key: made.key, notAfter: made.notAfter.toISOString() };
  const hostname = { name: NAME, redirectTo: null, forceHttps: false, certificate };
  const state = { id, name: 'files', hostnames: [hostname], offload: null };
  const vhost = vhostFileFor(state, nextGenerations(null, Date.now()), createSealer(sealingKey));
  writeFileSync(layout.vhostOf(id), JSON.stringify(vhost));
  mkdirSync(layout.filesOf(id), { recursive: true });
  writeFileSync(join(layout.filesOf(id), 'small.css'), SMALL);
  writeFileSync(join(layout.filesOf(id), 'large.css'), LARGE);
  const command = [process.execPath, 'bench/servers/edge.ts', place, String(ports.http), String(ports.https)];
  return { server: await serve(command, { origin: `http://127.0.0.1:${ports.http}` }), ports };
}

async function serveCaddy(logFile: string | null): Promise<Subject> {
  const ports = { http: await freePort(), https: await freePort() };
  const logging = logFile === null ? '' : `log {\noutput file ${logFile}\n}\n`;
  const files = `${logging}root * ${www}\nencode zstd gzip\nfile_server`;
  const file = join(folder.path, logFile === null ? 'Caddyfile-without-log' : 'Caddyfile');
  writeFileSync(
    file,
    `{\nauto_https off\nadmin off\nlog {\noutput discard\n}\n}\nhttp://:${ports.http} {\n${files}\n}\nhttps://:${ports.https} {\ntls ${pem} ${key}\n${files}\n}\n`,
  );
  const command = [PROGRAMS.caddy, 'run', '--config', file, '--adapter', 'caddyfile'];
  // It keeps its configuration there.
  const env = { XDG_CONFIG_HOME: folder.path, XDG_DATA_HOME: folder.path };
  return { server: await serve(command, { origin: `http://127.0.0.1:${ports.http}`, env }), ports };
}

/** In one process, whose processor time is counted. */
async function serveNginx(): Promise<Subject> {
  const ports = { http: await freePort(), https: await freePort() };
  const file = join(folder.path, 'nginx.conf');
  writeFileSync(
    file,
    `user root; daemon off; master_process off; pid ${folder.path}/nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log ${folder.path}/nginx.log; sendfile on; keepalive_requests 1000000; types { text/css css; }
gzip on; gzip_types text/css; gzip_comp_level 4;
server { listen ${ports.http}; listen ${ports.https} ssl http2; root ${www}; ssl_certificate ${pem}; ssl_certificate_key ${key}; } }`,
  );
  const command = [PROGRAMS.nginx, '-c', file];
  return { server: await serve(command, { origin: `http://127.0.0.1:${ports.http}` }), ports };
}

/** Node alone, over TLS: it writes the small file. */
async function serveBare(): Promise<Subject> {
  const ports = { http: 0, https: await freePort() };
  const command = [process.execPath, 'bench/servers/bare-https.ts', String(ports.https), pem, key];
  const small = join(www, 'small.css');
  return { server: await serve([...command, small], { origin: `https://127.0.0.1:${ports.https}` }), ports };
}

/** Microseconds of the server's processor time for a request. */
async function costOf(
  { server, ports }: Subject,
  { scheme, options }: (typeof KINDS)[number],
  path: string,
  headers: string[] = [],
  requests = REQUESTS,
): Promise<number> {
  const before = server.cpuMs();
  const { stdout } = await runCommand(
    PROGRAMS.h2load,
    [
      ...options,
      `-n${requests}`,
      '-c8',
      `--connect-to=127.0.0.1:${ports[scheme]}`,
      ...headers.flatMap((header) => ['-H', header]),
      `${scheme}://${NAME}:${ports[scheme]}${path}`,
    ],
    { timeoutMs: 120_000 },
  );
  if (!stdout.includes(` ${requests} 2xx`)) throw new Error(`requests failed: ${stdout}`);
  return ((server.cpuMs() - before) * 1_000) / requests;
}

const missing = Object.entries(PROGRAMS).filter(([, path]) => !existsSync(path));
if (missing.length > 0) {
  process.stdout.write(`static-files needs ${missing.map(([name]) => name).join(', ')}: skipped\n`);
} else {
  const report = createReport('static-files');
  await prepare();
  const peers: Peer[] = [];
  try {
    const edge = { what: 'edge', subject: await serveEdge() };
    peers.push(edge);
    const log = join(folder.path, 'caddy.log');
    peers.push({ what: 'Caddy', subject: await serveCaddy(log), atMost: 1 });
    peers.push({ what: 'Caddy without a log', subject: await serveCaddy(null) });
    peers.push({ what: 'nginx', subject: await serveNginx() });
    peers.push({ what: 'Node alone', subject: await serveBare(), only: KINDS[1] });
    await measure(peers);
  } finally {
    for (const { subject } of peers) await subject.server.stop();
    folder.remove();
  }
  report.finish();

  async function measure([edge, ...others]: Peer[]): Promise<void> {
    if (edge === undefined) return;
    report.part('A static file, processor time of the edge beside Caddy and nginx');
    const tests = [
      ...KINDS.map((kind) => ({
        kind,
        what: `9 kB, ${kind.what}`,
        path: '/small.css',
        headers: [],
        count: REQUESTS,
      })),
      {
        kind: KINDS[2],
        what: '114 kB of CSS, HTTP/2, compressed',
        path: '/large.css',
        headers: ['Accept-Encoding: gzip, zstd'],
        count: REQUESTS / 10,
      },
    ];
    for (const { kind, what, path, headers, count } of tests) {
      const all = [edge, ...others.filter(({ only }) => only === undefined || only === kind)];
      const costs: number[][] = [];
      for (let round = -1; round < ROUNDS; round++) {
        const cost: number[] = [];
        for (const { subject } of all) cost.push(await costOf(subject, kind, path, headers, count));
        // The first round warms up.
        if (round >= 0) costs.push(cost);
      }
      const of = (at: number) => median(costs.map((cost) => cost[at] ?? 0));
      for (const [at, { what: peer, atMost }] of all.entries()) {
        if (at === 0) continue;
        report.figure({
          what: `${what}, beside ${peer}`,
          value: median(costs.map((cost) => (cost[0] ?? 0) / (cost[at] ?? 1))),
          unit: 'ratio',
          measured: `${of(0).toFixed(0)} µs`,
          beside: `${of(at).toFixed(0)} µs`,
          ...(atMost === undefined ? {} : { goal: { atMost } }),
        });
      }
    }
    report.end();
  }
}
