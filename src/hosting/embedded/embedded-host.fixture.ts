import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { createSealer } from '../../secrets/sealer.ts';
import type { Hostname, InstallState, ServedCertificate } from '../host.ts';
import type { ObjectStorage } from '../object-storage.ts';
import { createSelfSigned } from '../self-signed.ts';
import { createEmbeddedHost, type EmbeddedHost, type EmbeddedHostOptions } from './embedded-host.ts';

/** A host on a folder of its own, and all that it wrote to its log. For tests. */
export interface TestHost {
  host: EmbeddedHost;
  folder: string;
  clock: ManualClock;
  log: LogLine[];
  options: EmbeddedHostOptions;
  /** The path of a file of an install. */
  file(install: { id: string }, path: string): string;
  write(install: { id: string }, path: string, content: string | Buffer): Promise<void>;
  http(hostname: string, path: string, options?: Asked): Promise<Answer>;
  https(hostname: string, path: string, options?: Asked): Promise<Answer>;
  close(): Promise<void>;
}

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
}

export const LOCAL = { host: '127.0.0.1', port: 0 };

/** Storage for tests that need none: asking it is a failure. */
export const noStorage: ObjectStorage = {
  get: () => Promise.reject(new Error('there is no object storage')),
  publicUrl: () => {
    throw new Error('there is no object storage');
  },
};

/** The log of a host, line by line. */
export function listeningLog(lines: LogLine[], level = 'warn'): Logger {
  return pino({ level }, { write: (line: string) => lines.push(JSON.parse(line)) });
}

export async function startHost(
  changes: Partial<EmbeddedHostOptions> & { clock?: ManualClock } = {},
): Promise<TestHost> {
  const folder = changes.folder ?? (await mkdtemp(join(tmpdir(), 'homeport-edge-')));
  const log: LogLine[] = [];
  const clock = changes.clock ?? manualClock(new Date());
  const options: EmbeddedHostOptions = {
    edgeHttp: LOCAL,
    edgeHttps: LOCAL,
    sshListen: LOCAL,
    siteDomain: 'hosting.test',
    sealer: createSealer(randomBytes(32)),
    objectStorage: noStorage,
    questions: { sshLogin: () => Promise.resolve(null) },
    log: listeningLog(log),
    listen: true,
    graceMs: 2_000,
    ...changes,
    folder,
    clock,
  };
  const host = createEmbeddedHost(options);
  await host.start();
  const port = (scheme: 'edgeHttp' | 'edgeHttps'): number => host.addresses?.[scheme].port ?? 0;
  const file = (install: { id: string }, path: string) => join(folder, 'installs', install.id, 'files', path);
  return {
    host,
    folder,
    clock,
    log,
    options,
    file,
    async write(install, path, content) {
      await mkdir(dirname(file(install, path)), { recursive: true });
      await writeFile(file(install, path), content);
    },
    http: (hostname, path, asked) => ask('http', port('edgeHttp'), hostname, path, asked),
    https: (hostname, path, asked) => ask('https', port('edgeHttps'), hostname, path, asked),
    async close() {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Where a host keeps what the edge knows of an install. */
export const vhostFile = ({ folder }: TestHost, id: string) => join(folder, 'vhosts', `${id}.json`);

/** The paths of all files and folders below a host's folder in whose path the text stands. */
export async function traces({ folder }: TestHost, word: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true });
  return all.filter((path) => path.includes(word));
}

/** What an install should be; `hostnames` are names served plainly, or more. */
export function siteState(
  name: string,
  hostnames: (string | (Partial<Hostname> & { name: string }))[] = [],
  changes: Partial<InstallState> = {},
): InstallState {
  return {
    id: randomUUID(),
    name,
    phpVersion: null,
    wordpressVersion: null,
    primaryHostname: name,
    hostnames: hostnames.map((hostname) => ({
      redirectTo: null,
      forceHttps: false,
      certificate: null,
      ...(typeof hostname === 'string' ? { name: hostname } : hostname),
    })),
    offload: null,
    ...changes,
  };
}

/** One that is valid from a second before `now`. */
export async function certificateFor(
  name: string,
  { now = new Date(), days = 30 }: { now?: Date; days?: number } = {},
): Promise<ServedCertificate> {
  const notBefore = new Date(now.getTime() - 1000);
  const { chain, key, notAfter } = await createSelfSigned({ names: [name], notBefore, days });
  return { chain, key, notAfter: notAfter.toISOString() };
}

/** One request on a connection of its own, the path and the Host header just as given. */
export async function ask(
  scheme: 'http' | 'https',
  port: number,
  hostname: string,
  path: string,
  { method = 'GET', headers = {} }: Asked = {},
): Promise<Answer> {
  const request = scheme === 'https' ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: { Host: hostname, ...headers },
      agent: false,
      ...(scheme === 'https'
        ? { servername: hostname.replace(/\.?(:\d*)?$/, ''), rejectUnauthorized: false }
        : {}),
    })
      .on('response', resolve)
      .on('error', reject)
      .end();
  });
  const bytes = await buffer(response);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString('utf8') };
}

/** Sends bytes as they are and reads until the other side closes. */
export async function sendRaw(port: number, content: string): Promise<string> {
  const socket: Socket = connect({ host: '127.0.0.1', port });
  socket.write(content, 'latin1');
  return text(socket);
}

/** Waits, a few seconds at most, until something holds. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 4000 && !(await holds()); tries++) await sleep(5);
  if (!(await holds())) throw new Error(`still not so: ${holds}`);
}
