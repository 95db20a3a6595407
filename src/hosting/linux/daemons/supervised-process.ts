import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Backoff, restartDelay } from '../machine/backoff.ts';
import type { DaemonSpec, DaemonState } from '../machine/daemon.ts';
import type { Cgroups } from './cgroups.ts';
import { sendSignal } from './leftovers.ts';
import { forEachLine, isSerious, recentLines } from './output-lines.ts';
import { type ProcessRecords, startTimeOf } from './process-records.ts';
import { whyNotReady } from './readiness.ts';

export const STOP_WITHIN_MS = 10_000;
const LAST_WORDS_WITHIN_MS = 200;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Supervision {
  cgroups: Cgroups;
  records: ProcessRecords;
  restarts: Backoff;
  clock: Clock;
  log: Logger;
}

/** A daemon that is a child of this process, restarted whenever it ends. */
export interface SupervisedProcess {
  readonly spec: DaemonSpec;
  state(): DaemonState;
  /** Main process; null if none runs. */
  pid(): number | null;
  /** How often it was started again because it had ended. */
  restarts(): number;
  /** Starts it at once if it does not run, and resolves when it is ready. Rejects with its output if it is not ready in time. */
  untilReady(): Promise<void>;
  /** Ends it with everything it started, by force if it takes too long. It is not restarted. */
  stop(): Promise<void>;
}

/** One process of a daemon, from its start to its end. */
interface Run {
  child: ChildProcess;
  /** Why it was not ready in time, to follow its name; null if it was. */
  ready: Promise<string | null>;
  /** Whether `ready` has resolved. */
  isSettled: boolean;
  /** Whether it has answered. Until then it may be about to fail, again and again. */
  hasAnswered: boolean;
  /** How it ended, for people; null while it runs. */
  ending: string | null;
  /** Resolves when it and all its processes have ended. */
  ended: Promise<void>;
}

export function superviseProcess(spec: DaemonSpec, supervision: Supervision): SupervisedProcess {
  const { cgroups, records, restarts, clock } = supervision;
  const log = supervision.log.child({ daemon: spec.name });
  const { stopSignal = 'SIGTERM', stopWithinMs = STOP_WITHIN_MS } = spec;
  const written = recentLines();
  let run: Run | null = null;
  /** The current start, shared by all callers. */
  let starting: Promise<Run> | null = null;
  let restart: NodeJS.Timeout | null = null;
  let delay: number | null = null;
  let stopped = false;
  let restartCount = 0;

  function started(): Promise<Run> {
    if (run !== null) return Promise.resolve(run);
    starting ??= launch().finally(() => {
      starting = null;
    });
    return starting;
  }

  async function launch(): Promise<Run> {
    if (restart !== null) clearTimeout(restart);
    restart = null;
    // Written before the process starts, so that it is known even if this process is killed.
    await records.write(spec.name, { pid: null, startTime: null, stopSignal, stopWithinMs });
    await cgroups.set(spec.name, spec.limits ?? null);
    const launched = begin();
    run = launched;
    launched.ready = readiness(launched);
    void launched.ready.then((amiss) => {
      launched.isSettled = true;
      if (amiss !== null) return untilAnswered(launched);
    });
    const { pid } = launched.child;
    if (pid !== undefined) {
      const startTime = await startTimeOf(pid);
      await records.write(spec.name, { pid, startTime, stopSignal, stopWithinMs });
    }
    return launched;
  }

  function begin(): Run {
    const [file = '', ...args] = [...cgroups.enter(spec.name), ...spec.command];
    const startedAt = clock.now().getTime();
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH, LC_ALL: 'C.UTF-8', ...spec.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group: terminal signals to this process do not reach it, and it can be killed as a whole.
      detached: true,
    });
    for (const output of [child.stdout, child.stderr]) if (output) forEachLine(output, onLine);
    const exit = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('exit', (status, signal) =>
        resolve(signal === null ? `ended with status ${status}` : `was ended by ${signal}`),
      );
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    const begun: Run = {
      child,
      ready: Promise.resolve(null),
      isSettled: false,
      hasAnswered: false,
      ending: null,
      ended: exit.then((ending) => onEnd(begun, ending, { startedAt, closed })),
    };
    return begun;
  }

  function onLine(line: string): void {
    written.add(line);
    if (isSerious(line)) log.warn(line);
    else log.info(line);
  }

  async function onEnd(
    ended: Run,
    ending: string,
    { startedAt, closed }: { startedAt: number; closed: Promise<unknown> },
  ): Promise<void> {
    try {
      await killRest(ended);
    } catch (err) {
      log.error({ err }, 'a daemon has ended, but its processes have not');
    }
    // Its last lines often say why it ended.
    await Promise.race([closed, pause(LAST_WORDS_WITHIN_MS)]);
    ended.ending = ending;
    if (run === ended) run = null;
    if (stopped) return;
    delay = restartDelay(restarts, delay, clock.now().getTime() - startedAt);
    log.warn({ restartInMs: delay }, `${spec.description} ${ending}`);
    restart = setTimeout(() => void startAgain().catch(onFailedStart), delay);
  }

  /** If a process ends before its start was recorded, waiting for that start is not enough: start another. */
  async function startAgain(): Promise<void> {
    await starting?.catch(() => undefined);
    if (stopped) return;
    restartCount += 1;
    await started();
  }

  /** Schedules the next attempt, because without a process, no end would trigger one. */
  function onFailedStart(err: unknown): void {
    if (stopped) return;
    delay = restartDelay(restarts, delay, 0);
    log.error({ err, restartInMs: delay }, `${spec.description} could not be started`);
    restart = setTimeout(() => void startAgain().catch(onFailedStart), delay);
  }

  async function killRest({ child }: Run): Promise<void> {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
    await cgroups.kill(spec.name);
  }

  async function untilReady(): Promise<void> {
    const before = run;
    const awaited = await started();
    const amiss = await (awaited.isSettled ? readiness(awaited) : awaited.ready);
    // It ran before and ended just now: that is no failed start, so start it again.
    if (awaited.ending !== null && awaited === before) return untilReady();
    if (amiss !== null) throw failure(amiss);
  }

  async function readiness(awaited: Run): Promise<string | null> {
    const ended = awaited.ended.then(() => awaited.ending ?? 'has ended');
    const amiss = await whyNotReady(spec, ended);
    if (amiss === null) awaited.hasAnswered = true;
    return amiss;
  }

  /** A slow start, such as a recovery after a crash, may take longer than its callers wait. */
  async function untilAnswered(late: Run): Promise<void> {
    while (late.ending === null && !late.hasAnswered) await readiness(late);
  }

  function failure(why: string): Error {
    const text = written.text();
    return new Error(`${spec.description} ${why}${text === '' ? '' : `; it wrote:\n${text}`}`);
  }

  async function stop(): Promise<void> {
    stopped = true;
    if (restart !== null) clearTimeout(restart);
    restart = null;
    // A failed start was already reported to its caller.
    await starting?.catch(() => undefined);
    const last = run;
    if (last !== null) await end(last);
    await cgroups.remove(spec.name);
    await records.remove(spec.name);
  }

  async function end(last: Run): Promise<void> {
    last.child.kill(stopSignal);
    const inTime = pause(stopWithinMs, false, { ref: false });
    if (!(await Promise.race([last.ended.then(() => true), inTime]))) {
      log.warn(`${spec.description} ignores ${stopSignal} and is killed`);
      await killRest(last);
      last.child.kill('SIGKILL');
    }
    await last.ended;
  }

  return {
    spec,
    state: () => (stopped ? 'stopped' : run?.hasAnswered ? 'running' : 'restarting'),
    pid: () => run?.child.pid ?? null,
    restarts: () => restartCount,
    untilReady,
    stop,
  };
}
