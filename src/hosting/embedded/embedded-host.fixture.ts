import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Logger, pino } from 'pino';
import { limiterFor } from '../../../test/connections.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { ObjectStorage } from '../../network/object-storage/object-storage.ts';
import { createSealer } from '../../secrets/sealer.ts';
import { type Answer, type Asked, ask, type LogLine } from '../policy/edge.fixture.ts';
import { createEmbeddedHost } from './embedded-host.ts';
import type { EmbeddedHost, EmbeddedHostOptions } from './host-options.ts';

/** A host on its own folder, with everything it logged. For tests. */
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

export const LOCAL = { host: '127.0.0.1', port: 0 };

/** Storage for tests that need none: every call fails. */
export const noStorage: ObjectStorage = {
  get: () => Promise.reject(new Error('there is no object storage')),
  publicUrl: () => {
    throw new Error('there is no object storage');
  },
};

/** The log records of a host. */
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
    connections: { edge: limiterFor('edge'), ssh: limiterFor('ssh') },
    log: listeningLog(log),
    listen: true,
    logRules: { days: 14, wholeAddressMs: DAY_MS, mostBytes: 64 * 1024 ** 2 },
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

/** Path of an install's vhost file. */
export const vhostFile = ({ folder }: TestHost, id: string) => join(folder, 'vhosts', `${id}.json`);

/** The paths of all files and folders below a host's folder that contain the text. */
export async function traces({ folder }: TestHost, word: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true });
  return all.filter((path) => path.includes(word));
}
