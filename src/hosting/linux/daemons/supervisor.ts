import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { type Backoff, RESTARTS } from '../machine/backoff.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import type { Cgroups } from './cgroups.ts';
import { checkedDaemonName } from './daemon-name.ts';
import { exchangeProgram, hasOtherProgram } from './kept-program.ts';
import { endLeftovers, sendSignal } from './leftovers.ts';
import { processRecords } from './process-records.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

/**
 * Runs daemons as children of this process, for machines without systemd. Each has its own cgroup, is restarted when it ends,
 * and ends with this process. If this process is killed, the next one ends them in {@link Daemons.start}. Their output goes to
 * the log.
 */
export function createSupervisor(options: {
  runFolder: string;
  cgroups: Cgroups;
  log: Logger;
  clock: Clock;
  restarts?: Backoff;
}): Daemons {
  const { runFolder, cgroups, log, clock, restarts = RESTARTS } = options;
  const records = processRecords(join(runFolder, 'daemons'));
  const daemons = new Map<string, SupervisedProcess>();
  const serially = serializeByKey();
  let ending = false;

  async function ensure(spec: DaemonSpec): Promise<void> {
    if (ending) throw new Error(`${spec.description} is not started: the host is ending`);
    const present = daemons.get(spec.name);
    if (present !== undefined && isSame(present.spec, spec)) {
      const pid = present.pid();
      return pid !== null && (await hasOtherProgram(pid, spec.program))
        ? runAgain(present, spec)
        : present.untilReady();
    }
    await present?.stop();
    await create(spec);
  }

  async function runAgain(daemon: SupervisedProcess, spec = daemon.spec): Promise<void> {
    const pid = spec.program === undefined ? null : daemon.pid();
    if (pid !== null && (await exchangeProgram(pid, async () => void sendSignal(pid, 'SIGUSR2')))) {
      return daemon.untilReady();
    }
    await daemon.stop();
    await create(spec);
  }

  async function create(spec: DaemonSpec): Promise<void> {
    const daemon = superviseProcess(spec, { cgroups, records, restarts, clock, log });
    daemons.set(spec.name, daemon);
    await daemon.untilReady();
  }

  function required(name: string): SupervisedProcess {
    const daemon = daemons.get(name);
    if (daemon === undefined) throw new Error(`there is no daemon ${name}`);
    return daemon;
  }

  async function remove(name: string): Promise<void> {
    const daemon = daemons.get(name);
    daemons.delete(name);
    await daemon?.stop();
  }

  return {
    start: () => endLeftovers(records, cgroups, log),
    ensure: async (spec) => serially(checkedDaemonName(spec.name), () => ensure(spec)),
    untilReady: (name) => serially(name, async () => required(name).untilReady()),
    restart: (name) => serially(name, async () => runAgain(required(name))),
    signal: (name, signal) =>
      serially(name, async () => {
        const pid = required(name).pid();
        if (pid === null || !sendSignal(pid, signal)) throw new Error(`the daemon ${name} is not running`);
      }),
    remove: (name) => serially(name, () => remove(name)),
    list: () =>
      Promise.all(
        [...daemons.values()].map(async (daemon) => ({
          name: daemon.spec.name,
          state: daemon.state(),
          pid: daemon.pid(),
          restarts: daemon.restarts(),
          memoryBytes: (await cgroups.usage(daemon.spec.name))?.memoryBytes ?? null,
        })),
      ),
    async stop() {
      ending = true;
      await Promise.all([...daemons.keys()].map((name) => serially(name, () => remove(name))));
    },
  };
}

/** Whether a daemon started as `one` already matches `other`, except for its program. */
function isSame(one: DaemonSpec, other: DaemonSpec): boolean {
  const facts = ({ command, environment = {}, limits = null }: DaemonSpec) => ({
    command: [...command],
    environment,
    limits,
  });
  return isDeepStrictEqual(facts(one), facts(other));
}
