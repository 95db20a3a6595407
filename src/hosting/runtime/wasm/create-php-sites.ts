import { rm } from 'node:fs/promises';
import { finished, type Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { serializeByKey, untilAborted } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import { createConfinedPlaces } from './confined-places.ts';
import { createEngineChoice } from './engine-choice.ts';
import { createHeldBodies, type HeldBodies } from './held-bodies.ts';
import { keptCodeIn } from './kept-code.ts';
import { SCRIPT_MB } from './library-script.ts';
import { createOpenPlaces } from './open-places.ts';
import type { OtherPhp, PhpEngine } from './php-engine.ts';
import { type PhpProcess, type ServingProcess, startPhpProcess } from './php-process.ts';
import {
  type PhpAvailability,
  PhpFailure,
  type PhpSite,
  type PhpSiteLimits,
  type PhpSites,
  type PhpSitesOptions,
  type WarmUpPage,
} from './php-sites.ts';
import { prepareFolders } from './private-folder.ts';
import { createProcessFolder } from './process-folder.ts';
import type { ProcessPlaces } from './process-place.ts';
import { type ProcessProgram, writeProcessProgram } from './process-program.ts';
import type { PhpProcessStart } from './process-protocol.ts';
import { requirePackages } from './required-packages.ts';
import { createRunningSites } from './running-sites.ts';
import { UnconfinedError } from './unconfined-error.ts';

const GRACE_MS = 10_000;
/** A body that takes longer comes from a slow visitor. */
const SLOW_BODY_MS = 1_000;
/** The least time for running requests. */
const REST_GRACE_MS = 60_000;
/** Memory of a thread beyond a page's `memory_limit` and an upload: PHP itself and its caches. */
const THREAD_OWN_MB = 192;

/**
 * Creates the runtime. It starts no process before it is used. `other`: a PHP that runs the
 * websites in place of the one in WebAssembly.
 */
export function createPhpSites(options: PhpSitesOptions, other: OtherPhp | null = null): PhpSites {
  const { log, waitMs } = options;
  let places: Promise<ProcessPlaces> | undefined;
  /** The program of the processes, and whether they have the machine code of PHP. */
  let started: { program: ProcessProgram; hasCode: boolean } | null = null;
  let making: Promise<void> | null = null;
  const code = keptCodeIn(options.codeFolder);
  let spare: Spare | null = null;
  let page: WarmUpPage | null = null;
  /** Of the process of each website. */
  const bodies = new WeakMap<ServingProcess, HeldBodies>();
  const closing = new AbortController();
  const choice = createEngineChoice(other, options, closing.signal);
  /** Of PHP as WebAssembly, once a process has said it. */
  let wasmVersion: string | null = null;
  const serially = serializeByKey();
  const sites = createRunningSites({
    memoryMb: options.memoryMb,
    memory: () => choice.memory,
    idleMs: options.idleMs,
    waitMs,
    stop,
  });

  async function placesOf(): Promise<ProcessPlaces> {
    closing.signal.throwIfAborted();
    const chosen = places ?? choosePlaces();
    places = chosen;
    // A full disk, for example, must not last longer than it does.
    const forget = (): void => {
      if (places === chosen) places = undefined;
    };
    chosen.catch(forget);
    const present = await chosen;
    if (present.isUsable) return present;
    forget();
    return placesOf();
  }

  async function choosePlaces(): Promise<ProcessPlaces> {
    const folder = await createProcessFolder(options.folder);
    try {
      return await placesIn(folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      throw error;
    }
  }

  async function placesIn(folder: string): Promise<ProcessPlaces> {
    const program = await writeProcessProgram(folder, closing.signal);
    started = { program, hasCode: await givesCode(program) };
    if (process.platform === 'linux') {
      try {
        const confined = await createConfinedPlaces(folder, program);
        log.info({ walls: confined.walls }, 'PHP runs confined');
        return confined;
      } catch (error) {
        if (!(error instanceof UnconfinedError)) throw error;
        log.warn(
          `PHP runs without bubblewrap (${error.message}): host only websites of people you trust, or ${error.remedy} and restart Homeport`,
        );
      }
    }
    return createOpenPlaces(folder, program, options.roots);
  }

  async function givesCode(program: ProcessProgram): Promise<boolean> {
    try {
      return await code.give(program);
    } catch (err) {
      log.warn({ err }, 'the kept machine code of PHP cannot be read');
      return false;
    }
  }

  /** Compiles PHP for later processes, with a page that needs most of it. */
  async function makeCode({ pattern, ...page }: WarmUpPage): Promise<void> {
    const from = await placesOf();
    const present = started;
    if (present === null || present.hasCode) return;
    const process = await start(from, { ...settingsOf(pattern.limits), keepsCode: true });
    try {
      await process.warmUp({ pattern, ...page });
      await process.keepCode((file) => code.keep(file, present.program));
      present.hasCode = true;
    } finally {
      await process.kill();
    }
  }

  async function start(from: ProcessPlaces, settings: PhpProcessStart): Promise<PhpProcess> {
    return startPhpProcess(await from.create(), { ...options, settings, signal: closing.signal });
  }

  /** Starts a process that waits for a website. */
  function keepSpare(from: ProcessPlaces, settings: PhpProcessStart): Promise<PhpProcess> {
    return keepWarm(start(from, settings), settings);
  }

  /** Keeps a process, which warms up first if there is a page for that. */
  function keepWarm(cold: Promise<PhpProcess>, settings: PhpProcessStart): Promise<PhpProcess> {
    const wanted = page;
    const process = wanted === null ? cold : cold.then((one) => warmed(one, wanted));
    const kept = { process, settings, page: wanted };
    spare = kept;
    const forget = (): void => {
      if (spare === kept) spare = null;
    };
    process.then(({ ended }) => ended).then(forget, forget);
    return process;
  }

  async function warmed(process: PhpProcess, wanted: WarmUpPage): Promise<PhpProcess> {
    try {
      await process.warmUp(wanted);
      return process;
    } catch (err) {
      // The next spare does without it.
      if (page === wanted) page = null;
      await process.kill();
      throw err;
    }
  }

  async function takeSpare(site: PhpSite): Promise<PhpProcess> {
    const settings = settingsOf(site.limits);
    const from = await placesOf();
    const taken = spare;
    if (taken !== null && isDeepStrictEqual(taken.settings, settings) && isFor(taken, site)) {
      spare = null;
      const process = await taken.process.catch(() => null);
      if (process !== null) return process;
    }
    return start(from, settings);
  }

  /** Starts the process of a website on the PHP that the machine has now. */
  async function startFor(site: PhpSite): Promise<ServingProcess> {
    await prepareFolders(site);
    const engine = await choice.presentEngine();
    if (engine === null) return startInWasm(site);
    void dropSpare();
    const start = (one: PhpEngine) => one.start(site, { ...options, signal: closing.signal });
    try {
      return await start(engine);
    } catch (error) {
      // The machine no longer allows the walls. The next look finds that out, or the fault was the website's.
      if (!(error instanceof UnconfinedError)) throw error;
      const next = await choice.anotherThan(engine);
      return next === null ? startInWasm(site) : start(next);
    }
  }

  /** Of a time when the machine's PHP was lost. */
  async function dropSpare(): Promise<void> {
    const dropped = spare;
    spare = null;
    await dropped?.process.then(
      (process) => process.kill(),
      () => undefined,
    );
  }

  async function startInWasm(site: PhpSite): Promise<ServingProcess> {
    const process = await takeSpare(site);
    try {
      await process.serve(site);
    } catch (error) {
      await process.kill();
      throw error;
    }
    return process;
  }

  /** For websites with the limits of most, so that those with others do not replace it all the time. */
  async function renewSpare(): Promise<void> {
    if (!options.spare || closing.signal.aborted || other?.isRequired || (await choice.engine()) !== null)
      return;
    const settings = settingsOf(page?.pattern.limits ?? DEFAULT_LIMITS);
    try {
      const from = await placesOf();
      const present = spare;
      const isLike = present !== null && isDeepStrictEqual(present.settings, settings);
      if (isLike && present.page === page) return;
      if (isLike && present.page === null) return void (await keepWarm(present.process, settings));
      await keepSpare(from, settings);
      if (present !== null) await (await present.process).kill();
    } catch (err) {
      if (!closing.signal.aborted) log.warn({ err }, 'no spare process of PHP could be started');
    }
  }

  /** Runs `use` in the website's process, which stays until `use` says that it is done. */
  function inProcess<Result>(
    site: PhpSite,
    signal: AbortSignal | undefined,
    use: (
      process: ServingProcess,
      done: () => void,
      setWaiting: (isWaiting: boolean) => void,
    ) => Promise<Result>,
    isOwn = false,
  ): Promise<Result> {
    if (closing.signal.aborted) return Promise.reject(closing.signal.reason);
    return sites.use(
      site,
      () => startFor(site),
      (process, done, setWaiting) => {
        // The website's first answer does not wait for the processors that a spare needs.
        const andRenew = (): void => {
          done();
          void renewSpare();
        };
        return use(process, andRenew, setWaiting);
      },
      signal,
      isOwn,
    );
  }

  /** A visitor gets a notice if the website's own folders keep PHP from starting. */
  const inProcessForVisitor: typeof inProcess = async (...parameters) => {
    try {
      return await inProcess(...parameters);
    } catch (error) {
      if (error instanceof BrokenWebsiteError || hasCode(error, 'ENOENT', 'ENOTDIR')) {
        throw new PhpFailure('failed', messageOf(error));
      }
      throw error;
    }
  };

  function bodiesOf(process: ServingProcess, { limits }: PhpSite): HeldBodies {
    const present = bodies.get(process);
    if (present !== undefined) return present;
    const made = createHeldBodies(limits);
    bodies.set(process, made);
    return made;
  }

  async function stop(siteId: string, graceMs = GRACE_MS, signal?: AbortSignal): Promise<void> {
    await serially(siteId, () => sites.end(siteId, graceMs, signal));
  }

  return {
    async available(): Promise<PhpAvailability> {
      try {
        const engine = await choice.presentEngine();
        if (engine !== null) return { version: engine.version, engine: 'machine', notMachine: null };
      } catch (error) {
        return { reason: messageOf(error), mayPass: true };
      }
      const inWasm = (version: string): PhpAvailability => ({
        version,
        engine: 'wasm',
        notMachine: choice.notMachine,
      });
      if (wasmVersion !== null) return inWasm(wasmVersion);
      try {
        requirePackages();
      } catch (error) {
        return { reason: messageOf(error) };
      }
      try {
        const from = await placesOf();
        const process = await (spare?.process ?? keepSpare(from, settingsOf(DEFAULT_LIMITS)));
        if (!options.spare) {
          spare = null;
          await process.kill();
        }
        wasmVersion = process.version;
        return inWasm(process.version);
      } catch (error) {
        return { reason: messageOf(error), mayPass: true };
      }
    },

    async warmUp(wanted) {
      if (page !== null && isDeepStrictEqual(page, wanted)) return;
      page = wanted;
      if ((await choice.engine()) !== null) return;
      await renewSpare();
      making ??= makeCode(wanted).catch((err: unknown) => {
        if (!closing.signal.aborted) log.warn({ err }, 'PHP was not compiled for later processes');
      });
      await making;
    },

    request: (site, { isOwn = false, ...request }, signal) =>
      inProcessForVisitor(
        site,
        signal,
        async (process, done, setWaiting) => {
          const held = request.body && bodiesOf(process, site).hold(request.body);
          // Visitors who send or read slowly must not keep the memory from other websites. Others must get an answer.
          if (held) whileSlow(held.stream, setWaiting);
          try {
            const response = await process.request({ ...request, body: held?.stream ?? null }, signal);
            // PHP has ended by then. Its output waits for the visitor.
            const slow = setTimeout(() => setWaiting(true), site.limits.seconds * 1000);
            slow.unref();
            finished(response.body, () => {
              clearTimeout(slow);
              held?.release();
              done();
            });
            return response;
          } catch (error) {
            held?.release();
            throw held?.refusal ?? error;
          }
        },
        isOwn,
      ),

    run: (site, script, signal) =>
      inProcess(site, signal, async (process, done) => {
        const result = await process.run(script, signal);
        done();
        return result;
      }),

    runProgram: (site, program, take, signal) =>
      inProcess(site, signal, async (process, done) => {
        const release = await sites.takeThread(site, signal);
        try {
          return await process.runProgram(program, take, signal);
        } finally {
          release();
          done();
        }
      }),

    async rest(siteId) {
      if (!sites.isWorking(siteId)) await stop(siteId);
    },

    stop: (siteId, graceMs) => stop(siteId, graceMs),

    async withoutProcess(siteId, work) {
      const release = sites.hold(siteId);
      try {
        await stop(siteId);
        return await work();
      } finally {
        release();
      }
    },

    async atRest(siteId, work, signal) {
      const release = sites.pause(siteId);
      try {
        // Others may be stopping it before.
        const graceMs = Math.max(REST_GRACE_MS, sites.secondsOf(siteId) * SECOND_MS);
        await untilAborted(stop(siteId, graceMs, signal), signal);
        return await work();
      } finally {
        release();
      }
    },

    isHeld: (siteId) => sites.isHeld(siteId),

    get figures() {
      return sites.figures;
    },

    async close() {
      closing.abort(new PhpFailure('busy', 'Homeport is stopping', 5));
      await sites.endAll();
      const waiting = await spare?.process.catch(() => null);
      await waiting?.kill();
      await making;
      await choice.close();
      await (await places?.catch(() => undefined))?.close();
    },
  };
}

/** A process that waits for a website. */
interface Spare {
  process: Promise<PhpProcess>;
  settings: PhpProcessStart;
  /** The page with which it warms up. */
  page: WarmUpPage | null;
}

/** Whether it can become the process of a website: it sees another website's core, or none. */
function isFor({ page }: Spare, { core, readOnly }: PhpSite): boolean {
  return page === null || (page.pattern.core === core && isDeepStrictEqual(page.pattern.readOnly, readOnly));
}

type ProcessLimits = Pick<PhpSiteLimits, 'memoryMb' | 'uploadMb' | 'inputVars'>;

const DEFAULT_LIMITS: ProcessLimits = { memoryMb: 256, uploadMb: 64, inputVars: 5_000 };

function settingsOf({ memoryMb, uploadMb, inputVars }: ProcessLimits): PhpProcessStart {
  return {
    memoryMb,
    uploadMb,
    inputVars,
    threadMb: Math.max(memoryMb, SCRIPT_MB) + uploadMb + THREAD_OWN_MB,
  };
}

/** Tells that a body takes long to arrive, and when it is there. */
function whileSlow(body: Readable, setSlow: (isSlow: boolean) => void): void {
  const timer = setTimeout(setSlow, SLOW_BODY_MS, true);
  timer.unref();
  body.once('close', () => {
    clearTimeout(timer);
    setSlow(false);
  });
}
