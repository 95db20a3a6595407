import { setTimeout as sleep } from 'node:timers/promises';
import { bodyMb, PHP_RANGES } from '../../policy/php-limits.ts';
import { askSocket } from '../../policy/probe.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { ALIVE_PATH, aliveText, generationPath, generationText } from './status-server.ts';
import { NGINX } from './test-configuration.ts';
import { workersOf } from './worker-processes.ts';

/** The running nginx, seen from outside. */
export interface RunningNginx {
  /** Ensures that it runs with the configuration of that generation, which is the one on disk. */
  ensure(generation: string): Promise<void>;
  /**
   * Reloads the configuration from disk. Resolves once only processes with the new configuration accept connections. Rejects
   * after a minute.
   */
  reload(generation: string): Promise<void>;
  /** Whether it runs with the configuration of that generation. */
  shows(generation: string): Promise<boolean>;
  /** Makes it open its log again by name, after the log was renamed. */
  reopenLog(): Promise<void>;
  /** Stops and forgets it. */
  remove(): Promise<void>;
}

export interface RunningNginxOptions {
  daemons: Daemons;
  instance: string;
  configuration: string;
  /** Unix socket where nginx reports its configuration. */
  statusSocket: string;
  /** Other Unix sockets that it listens on. A killed nginx leaves them behind, and could not listen there again. */
  sockets: string[];
  /** Of any install, in MiB. */
  largestUploadMb?: number | undefined;
}

const NAME = 'nginx';
const MB = 1024 * 1024;
/** Beyond the largest request body. */
const FILE_MARGIN_MB = 16;
const RELOADED_WITHIN_MS = 60_000;
/** First interval between checks of nginx. It grows. */
const FIRST_LOOK_AFTER_MS = 4;
const LOOK_AT_LEAST_EVERY_MS = 50;
/** Memory holds private keys. Linux still starts a program for core dumps at a limit of 0 bytes, and none at 1 (core(5)). */
const NO_CORE_DUMP = 1;
/**
 * Removes the files before `--` and becomes the program after it. A write beyond the largest file size then fails instead of
 * killing the program.
 */
const WITHOUT_OLD_SOCKETS =
  '$SIG{XFSZ} = "IGNORE"; while (defined(my $file = shift)) { last if $file eq "--"; unlink $file } exec @ARGV or die "$ARGV[0]: $!\\n"';

export function createRunningNginx(options: RunningNginxOptions): RunningNginx {
  const { daemons, instance, configuration, statusSocket, sockets } = options;
  const { largestUploadMb = PHP_RANGES.phpUploadMb.most } = options;
  const spec: DaemonSpec = {
    name: NAME,
    description: 'web server',
    command: [
      '/usr/bin/perl',
      '-e',
      WITHOUT_OLD_SOCKETS,
      statusSocket,
      ...sockets,
      '--',
      '/usr/bin/prlimit',
      // The last limit of its files. The page cache and the log of requests have their own.
      `--fsize=${(bodyMb(largestUploadMb) + FILE_MARGIN_MB) * MB}`,
      `--core=${NO_CORE_DUMP}`,
      '--',
      NGINX,
      '-c',
      configuration,
      '-g',
      'daemon off;',
    ],
    stopSignal: 'SIGQUIT',
    readyWithinMs: 30_000,
    async ready() {
      const fault = await askSocket(statusSocket, { path: ALIVE_PATH, text: aliveText(instance) });
      if (fault !== null) throw new Error(`nginx does not answer at ${statusSocket}: ${fault}`);
    },
  };

  async function shows(generation: string): Promise<boolean> {
    const expected = { path: generationPath(generation), text: generationText(generation) };
    return (await askSocket(statusSocket, expected)) === null;
  }

  async function masterPid(): Promise<number | null> {
    return (await daemons.list()).find(({ name }) => name === NAME)?.pid ?? null;
  }

  async function reload(generation: string): Promise<void> {
    const master = await masterPid();
    if (master === null) return ensure(generation);
    const { all: before } = await workersOf(master);
    await daemons.signal(NAME, 'SIGHUP');
    const until = performance.now() + RELOADED_WITHIN_MS;
    let pause = FIRST_LOOK_AFTER_MS;
    while (performance.now() < until) {
      const { serving } = await workersOf(master);
      const replaced = serving.size > 0 && [...serving].every((pid) => !before.has(pid));
      if (replaced && (await shows(generation))) return;
      await sleep(pause);
      pause = Math.min(pause * 1.25, LOOK_AT_LEAST_EVERY_MS);
    }
    throw new Error('nginx did not take over its new configuration; its log says why');
  }

  async function ensure(generation: string): Promise<void> {
    await daemons.ensure(spec);
    if (!(await shows(generation))) await reload(generation);
  }

  return {
    ensure,
    reload,
    shows,
    reopenLog: () => daemons.signal(NAME, 'SIGUSR1'),
    remove: () => daemons.remove(NAME),
  };
}
