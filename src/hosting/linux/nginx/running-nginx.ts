import { setTimeout as sleep } from 'node:timers/promises';
import { askSocket } from '../../policy/probe.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { NGINX } from './refusals.ts';
import { ALIVE_PATH, aliveText, generationPath, generationText } from './status-server.ts';
import { generationsOf, workersOf } from './worker-processes.ts';

/** The nginx that serves, seen from outside. */
export interface RunningNginx {
  /** Sees that it runs with the configuration of that generation, which is the one on disk. */
  ensure(generation: string): Promise<void>;
  /**
   * Has it take over the configuration on disk. Resolves once every connection is accepted by processes that have done so. Rejects
   * if it did not within a minute.
   */
  reload(generation: string): Promise<void>;
  /** Whether it runs with the configuration of that generation. */
  shows(generation: string): Promise<boolean>;
  /** Ends it and forgets it. */
  remove(): Promise<void>;
}

export interface RunningNginxOptions {
  daemons: Daemons;
  instance: string;
  configuration: string;
  /** Unix socket at which nginx says which configuration it runs with. */
  statusSocket: string;
  /** Other Unix sockets that it listens on. One that is killed leaves them behind and could not listen there again. */
  sockets: string[];
}

const NAME = 'nginx';
/**
 * Bytes that nginx may write to one file: a body that a visitor sends, and some. An answer that is kept is written whole, whatever the
 * size of its cache, so one that is longer and did not say so breaks off here.
 */
const LARGEST_FILE = 80 * 1024 * 1024;
const RELOADED_WITHIN_MS = 60_000;
/** nginx is looked at this often at first, and ever more seldom: with a thousand websites it reads for as long as looking would cost. */
const FIRST_LOOK_AFTER_MS = 4;
const LOOK_AT_LEAST_EVERY_MS = 50;
/**
 * Workers stay for visitors whose downloads are under way, and each takes memory. While there are those of more configurations than
 * so many, a change waits until this long after the one before; others that come meanwhile share the next.
 */
const MOST_GENERATIONS = 3;
const PAUSE_MS = 5_000;
const LOOK_FOR_ROOM_EVERY_MS = 100;
/**
 * Removes files named before `--`, and becomes the program named after it, in which a write beyond the largest size of a file fails
 * and does not kill.
 */
const WITHOUT_OLD_SOCKETS =
  '$SIG{XFSZ} = "IGNORE"; while (defined(my $file = shift)) { last if $file eq "--"; unlink $file } exec @ARGV or die "$ARGV[0]: $!\\n"';

export function createRunningNginx(options: RunningNginxOptions): RunningNginx {
  const { daemons, instance, configuration, statusSocket, sockets } = options;
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
      `--fsize=${LARGEST_FILE}`,
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

  let reloadedAt = Number.NEGATIVE_INFINITY;

  /** Gives the processes that there are below the main one then. */
  async function untilThereIsRoom(master: number): Promise<Set<number>> {
    for (;;) {
      const workers = await workersOf(master);
      const rest = reloadedAt + PAUSE_MS - performance.now();
      if (rest <= 0 || generationsOf(workers) <= MOST_GENERATIONS) return workers.all;
      await sleep(Math.min(rest, LOOK_FOR_ROOM_EVERY_MS));
    }
  }

  async function reload(generation: string): Promise<void> {
    const master = await masterPid();
    if (master === null) return ensure(generation);
    const before = await untilThereIsRoom(master);
    reloadedAt = performance.now();
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

  return { ensure, reload, shows, remove: () => daemons.remove(NAME) };
}
