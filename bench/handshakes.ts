import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import type { ServedCertificate } from '../src/hosting/contract/install-state.ts';
import { nextGenerations } from '../src/hosting/embedded/host-folder/generations.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';
import { vhostFileFor } from '../src/hosting/embedded/host-folder/vhost.ts';
import { createSelfSigned } from '../src/lib/certificates/self-signed-certificate.ts';
import { createSealer } from '../src/secrets/sealer.ts';
import { freePort } from '../test/servers/free-port.ts';
import { type Served, serve, temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { shownRate } from './measure/units.ts';

/**
 * `node bench/handshakes.ts`: full TLS 1.3 handshakes at the edge with one certificate and with many, and at a bare Node server with one.
 * Client and server share the machine, so the server's processor time is more meaningful than handshakes per second.
 */
const MANY_INSTALLS = 1_000;
const NAMES_EACH = 10;
/** Certificates are expensive to create, so names share them. The edge keeps a context for each name anyway. */
const DISTINCT = 50;
const VISITORS = 16;
const ROUNDS = 3;
const ROUND_MS = 2_500;
const WARM_UP_MS = 1_500;

interface Subject {
  what: string;
  port: number;
  server: Served;
  /** Requested in random order. */
  names: string[];
}

interface Round {
  perSecond: number;
  /** Microseconds of the server's processor time. */
  cpuMicros: number;
}

/** Shaped like an authority's chain: the leaf, then its issuer. */
async function makeCertificates(): Promise<ServedCertificate[]> {
  const notBefore = new Date();
  const make = (name: string) => createSelfSigned({ names: [name], notBefore, days: 90 });
  const issuer = await make('issuer.test');
  const made: ServedCertificate[] = [];
  for (let n = 0; n < DISTINCT; n++) {
    const { chain, key, notAfter } = await make(`certificate-${n}.test`);
    made.push({ chain: chain + issuer.chain, key, notAfter: notAfter.toISOString() });
  }
  return made;
}

/** Writes a host's folder with these installs and returns the names. */
function seedHost(
  folder: string,
  installs: number,
  each: number,
  certificates: ServedCertificate[],
): string[] {
  const key = randomBytes(32);
  const layout = layoutOf(folder);
  mkdirSync(layout.vhosts, { recursive: true });
  writeFileSync(join(folder, 'sealing-key'), key);
  const generations = nextGenerations(null, Date.now());
  const names: string[] = [];
  for (let n = 0; n < installs; n++) {
    const hostnames = Array.from({ length: each }, (_, index) => {
      const name = `domain-${index}.install-${n}.test`;
      const certificate = certificates[(n * each + index) % certificates.length] ?? null;
      names.push(name);
      return { name, redirectTo: null, forceHttps: true, certificate };
    });
    const state = { id: crypto.randomUUID(), name: `install-${n}`, hostnames, offload: null };
    const file = vhostFileFor(state, generations, createSealer(key));
    writeFileSync(layout.vhostOf(state.id), JSON.stringify(file, null, 1));
  }
  return names;
}

async function serveEdge(folder: string): Promise<{ server: Served; port: number }> {
  const [http, https] = [await freePort(), await freePort()];
  const command = [process.execPath, 'bench/servers/edge.ts', folder, String(http), String(https)];
  return { server: await serve(command, { origin: `https://127.0.0.1:${https}` }), port: https };
}

async function serveBare(
  folder: string,
  { chain, key }: ServedCertificate,
): Promise<{ server: Served; port: number }> {
  const [port, certFile, keyFile] = [await freePort(), join(folder, 'bare.crt'), join(folder, 'bare.key')];
  writeFileSync(certFile, chain);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const command = [process.execPath, 'bench/servers/bare-https.ts', String(port), certFile, keyFile];
  return { server: await serve(command, { origin: `https://127.0.0.1:${port}` }), port };
}

// One context for all, because creating it costs the client more than the handshake. Certificates are not verified.
const client = createSecureContext({ minVersion: 'TLSv1.3' });

async function handshake(port: number, servername: string): Promise<void> {
  const socket = tlsConnect({
    host: '127.0.0.1',
    port,
    servername,
    secureContext: client,
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  if (socket.getProtocol() !== 'TLSv1.3' || socket.isSessionReused())
    throw new Error('no full TLS 1.3 handshake');
  // Closed cleanly, so that the server has finished with it.
  const closed = once(socket, 'close');
  socket.resume().end();
  await closed;
}

async function handshakesFor({ port, server, names }: Subject, milliseconds: number): Promise<Round> {
  let count = 0;
  const [started, cpuBefore] = [performance.now(), server.cpuMs()];
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      while (performance.now() < started + milliseconds) {
        await handshake(port, names[randomInt(names.length)] ?? '');
        count++;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: count / seconds, cpuMicros: ((server.cpuMs() - cpuBefore) * 1000) / count };
}

/** Runs in turn for several rounds, so that all see the same load; returns each median. */
async function interleaved(subjects: Subject[]): Promise<Round[]> {
  const rounds: Round[][] = subjects.map(() => []);
  for (const subject of subjects) await handshakesFor(subject, WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, subject] of subjects.entries()) {
      rounds[index]?.push(await handshakesFor(subject, ROUND_MS));
    }
  }
  const median = (figures: number[]) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
  return rounds.map((own) => ({
    perSecond: median(own.map(({ perSecond }) => perSecond)),
    cpuMicros: median(own.map(({ cpuMicros }) => cpuMicros)),
  }));
}

const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()] as const;
const servers: Served[] = [];
try {
  const certificates = await makeCertificates();
  const [first] = certificates;
  if (first === undefined) throw new Error('no certificate was made');
  const oneName = seedHost(folders[1].path, 1, 1, certificates);
  const manyNames = seedHost(folders[2].path, MANY_INSTALLS, NAMES_EACH, certificates);

  const bare = await serveBare(folders[0].path, first);
  servers.push(bare.server);
  const one = await serveEdge(folders[1].path);
  servers.push(one.server);
  const many = await serveEdge(folders[2].path);
  servers.push(many.server);

  const loaded = manyNames.length.toLocaleString('en');
  const subjects: Subject[] = [
    { what: 'bare node:https', names: ['bare.test'], ...bare },
    { what: 'edge, 1 certificate', names: oneName, ...one },
    { what: `edge, ${loaded}, 100 asked for`, names: manyNames.slice(0, 100), ...many },
    { what: `edge, ${loaded}, all asked for`, names: manyNames, ...many },
  ];
  const atStart = subjects.map(({ server }) => server.residentMb());
  const results = await interleaved(subjects);
  const [against] = results;
  if (against === undefined) throw new Error('nothing was measured');
  const report = createReport('handshakes');
  report.part('Full TLS 1.3 handshakes, processor time beside bare node:https');
  for (const [index, { what, server }] of subjects.entries()) {
    const { perSecond, cpuMicros } = results[index] ?? against;
    report.figure({
      what,
      value: cpuMicros / against.cpuMicros,
      unit: 'ratio',
      measured: `${Math.round(cpuMicros)} µs each, ${shownRate(perSecond)}`,
    });
    report.figure({ what: `${what}: start`, value: server.startMs, unit: 'ms' });
    report.figure({
      what: `${what}: memory`,
      value: server.residentMb(),
      unit: 'MB',
      measured: `${Math.round(atStart[index] ?? 0)} MB at start`,
    });
  }
  report.end();
  report.finish();
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  for (const folder of folders) folder.remove();
}
