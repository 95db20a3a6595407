import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { coalesce, serializeByKey } from '../../../lib/concurrency.ts';
import { replaceAtomically } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { DaemonSpec, DaemonState, Daemons } from '../machine/daemon.ts';
import { checkedDaemonName } from './daemon-name.ts';
import { exchangeProgram, hasOtherProgram } from './kept-program.ts';
import { whyNotReady } from './readiness.ts';
import { createSystemctl, type UnitStatus } from './systemctl.ts';
import { serviceUnit } from './systemd-unit.ts';

const SUFFIX = '.service';
const POLL_EVERY_MS = 250;

/**
 * Runs daemons as systemd units, `<instance>-<name>.service`. They outlive this process, so that an update of Homeport takes no
 * website down. The unit files are in `/run`: the host decides what should run, and writes them again after a restart of the
 * machine.
 */
export function createSystemdDaemons(options: {
  instance: string;
  log: Logger;
  unitFolder?: string;
  systemctl?: string;
}): Daemons {
  const { instance, log, unitFolder = '/run/systemd/system', systemctl = '/usr/bin/systemctl' } = options;
  const system = createSystemctl(systemctl);
  const reload = coalesce(system.reload);
  const serially = serializeByKey();
  const specs = new Map<string, DaemonSpec>();
  const prefix = `${instance}-`;
  const unitOf = (name: string) => `${prefix}${checkedDaemonName(name)}${SUFFIX}`;
  const fileOf = (name: string) => join(unitFolder, unitOf(name));

  async function ensure(spec: DaemonSpec): Promise<void> {
    const unit = unitOf(spec.name);
    const text = serviceUnit(spec);
    const present = await ifThere(readFile(fileOf(spec.name), 'utf8'));
    if (present !== text) {
      // Stop before the file changes: a running unit then always matches its file, even after an interruption.
      await system.run('stop', unit);
      // systemd logs a warning for each unit that not everyone can read, at each reload.
      await replaceAtomically(fileOf(spec.name), text, { sync: false, mode: 0o644 });
      log.info({ unit }, present === null ? 'created a unit' : 'changed a unit');
    }
    const [status] = await system.show([unit]);
    if (status?.needsReload) await reload();
    specs.set(spec.name, spec);
    if (status !== undefined && (await hasOtherProgram(status.mainPid, spec.program))) await runAgain(unit);
    await start(spec, unit);
    await untilReady(spec);
  }

  async function runAgain(unit: string): Promise<void> {
    const [status] = await system.show([unit]);
    const ask = () => system.kill(unit, 'SIGUSR2');
    if (status === undefined || !(await exchangeProgram(status.mainPid, ask)))
      await system.run('restart', unit);
  }

  async function start({ description }: DaemonSpec, unit: string): Promise<void> {
    try {
      await system.run('start', unit);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new Error(`${description} could not be started: ${error.message}\n${await system.explain(unit)}`);
    }
  }

  async function untilReady(spec: DaemonSpec): Promise<void> {
    const unit = unitOf(spec.name);
    const polling = new AbortController();
    try {
      const amiss = await whyNotReady(spec, startedAgain(unit, polling.signal));
      if (amiss !== null)
        throw new Error(`${spec.description} ${amiss}; ${await system.explain(unit)}`.trim());
    } finally {
      polling.abort();
    }
  }

  /** Resolves when systemd restarts the unit after this call. Earlier restarts of a running unit do not count. */
  async function startedAgain(unit: string, signal: AbortSignal): Promise<string> {
    const [before] = await system.show([unit]);
    while (!signal.aborted) {
      await pause(POLL_EVERY_MS);
      const [status] = await system.show([unit]);
      if (status === undefined) continue;
      if (status.restarts > (before?.restarts ?? 0) || status.activeState === 'failed') return 'has ended';
    }
    return 'was ready';
  }

  async function requireUnit(name: string): Promise<string> {
    if ((await ifThere(readFile(fileOf(name), 'utf8'))) === null)
      throw new Error(`there is no daemon ${name}`);
    return unitOf(name);
  }

  async function restart(name: string): Promise<void> {
    const unit = await requireUnit(name);
    const spec = specs.get(name);
    await (spec?.program === undefined ? system.run('restart', unit) : runAgain(unit));
    if (spec !== undefined) await untilReady(spec);
  }

  async function wait(name: string): Promise<void> {
    const spec = specs.get(name);
    if (spec === undefined) throw new Error(`there is no daemon ${name}`);
    await start(spec, await requireUnit(name));
    await untilReady(spec);
  }

  async function remove(name: string): Promise<void> {
    const unit = unitOf(name);
    specs.delete(name);
    await system.run('stop', unit);
    await rm(fileOf(name), { force: true });
    // systemd keeps the failed state of a unit until it is reset.
    await system.forgetFailure(unit);
  }

  return {
    start: async () => void (await mkdir(unitFolder, { recursive: true })),
    ensure: (spec) => serially(spec.name, () => ensure(spec)),
    untilReady: (name) => serially(name, () => wait(name)),
    restart: (name) => serially(name, () => restart(name)),
    signal: (name, signal) => serially(name, async () => system.kill(await requireUnit(name), signal)),
    remove: (name) => serially(name, () => remove(name)),
    async list() {
      const units = (await readdir(unitFolder)).filter(
        (file) => file.startsWith(prefix) && file.endsWith(SUFFIX),
      );
      return (await system.show(units)).map((status) => ({
        name: status.id.slice(prefix.length, -SUFFIX.length),
        state: stateOf(status),
        pid: status.mainPid || null,
        restarts: status.restarts,
        memoryBytes: status.memoryBytes,
      }));
    },
    // Websites stay up while the host is down.
    stop: async () => {},
  };
}

function stateOf({ activeState }: UnitStatus): DaemonState {
  if (activeState === 'active' || activeState === 'reloading') return 'running';
  return activeState === 'activating' ? 'restarting' : 'stopped';
}
