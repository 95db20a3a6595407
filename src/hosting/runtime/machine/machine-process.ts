import { chmod, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { untilAborted } from '../../../lib/concurrency.ts';
import { asciiTarget, type ServingProcess } from '../wasm/php-process.ts';
import {
  PhpFailure,
  type PhpProgram,
  type PhpRequest,
  type PhpScript,
  type PhpSite,
} from '../wasm/php-sites.ts';
import { connectionsOf, listenForProcess, type ServiceOptions } from '../wasm/platform-services.ts';
import { programStart, scriptStart } from './command-line.ts';
import { exchangeFastcgi } from './fastcgi-exchange.ts';
import { type Fpm, startFpm } from './fpm.ts';
import { requestParams } from './request-params.ts';
import { createSlots } from './slots.ts';
import { websiteLog } from './website-log.ts';
import {
  createWebsiteSandbox,
  type MachinePhp,
  type SandboxFolders,
  type WebsiteSandbox,
} from './website-sandbox.ts';

const MIB = 1024 * 1024;
const FORM_BYTES = MIB;
const OUTPUT_BYTES = 16 * MIB;
const MOST_ERROR = 64 * 1024;
const SCRIPT_SECONDS = 60;
/** How often the error log of a website that works is measured. */
const LOG_MS = 1_000;
/** FPM looks for slow requests from time to time. */
const LATE_MS = 5_000;
/** PHP's own exit code after a fatal error. */
const FATAL = 255;
/** See php/prepend.php. */
const BROKEN = 'homeport: fatal';
/** Names of the connection. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);
const OWN_PREFIX = 'x-homeport-process-';

export interface MachineProcessOptions extends ServiceOptions, SandboxFolders {
  php: MachinePhp;
  /** File with the filter of system calls. */
  filter: string;
  waitMs: number;
  date(): Date;
  /** Ends it, also while it starts. */
  signal: AbortSignal;
}

/** One run of FPM, with the requests that it answers. */
interface Generation {
  fpm: Fpm;
  active: number;
  isFormer: boolean;
}

/** Starts the machine's PHP for a website: PHP-FPM for its pages, and a process for each script, all in sandboxes. */
export async function startMachineProcess(
  site: PhpSite,
  options: MachineProcessOptions,
): Promise<ServingProcess> {
  const { php, filter, waitMs, log, date } = options;
  options.signal.throwIfAborted();
  const connectOut = connectionsOf(site.id, options);
  const sandbox = await createWebsiteSandbox(options, filter, php, site, { connectOut, log });
  const services = await servicesOf(sandbox);
  const errors = websiteLog(sandbox.private);
  const slots = createSlots(site.limits.threads, waitMs);
  const killing = new AbortController();
  const killed = AbortSignal.any([options.signal, killing.signal]);
  /** Everything that has folders of the website. */
  const running = new Set<Promise<unknown>>();
  /** Requests and scripts in progress. */
  let busy = 0;
  /** Measures the error log while there are some. */
  let measuring: NodeJS.Timeout | undefined;
  let present: Promise<Generation> | null = null;
  let isOver = false;
  let over: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });

  async function servicesOf({ services: path, remove }: WebsiteSandbox): Promise<{ close(): void }> {
    try {
      const listening = await listenForProcess(path, site.id, options, connectOut);
      await chmod(path, 0o600);
      return listening;
    } catch (error) {
      await remove();
      throw error;
    }
  }

  function begun(): void {
    busy += 1;
    measuring ??= setInterval(() => void keepLog(null), LOG_MS).unref();
  }

  function done(): void {
    busy -= 1;
    if (busy > 0) return;
    clearInterval(measuring);
    measuring = undefined;
  }

  /** After everything has ended. */
  async function finish(): Promise<void> {
    if (isOver) return ended;
    isOver = true;
    clearInterval(measuring);
    killing.abort(new PhpFailure('failed', 'PHP has ended'));
    while (running.size > 0) await Promise.allSettled([...running]);
    services.close();
    await sandbox
      .remove()
      .catch((err: unknown) => log.warn({ err }, 'the folder of a PHP process was not removed'));
    over();
  }
  killed.addEventListener('abort', () => void finish(), { once: true });

  function remember(work: Promise<unknown>): void {
    running.add(work);
    const forget = (): void => void running.delete(work);
    work.then(forget, forget);
  }

  async function begin(): Promise<Generation> {
    const starting = startFpm(sandbox, log, killed);
    remember(starting);
    const generation = { fpm: await starting, active: 0, isFormer: false };
    remember(generation.fpm.ended);
    void generation.fpm.ended.then(() => {
      if (generation.isFormer || killed.aborted) return;
      log.warn({ install: site.id, lines: generation.fpm.lines }, 'PHP-FPM ended unexpectedly');
      void finish();
    });
    return generation;
  }

  /** The present FPM, or a new one if someone has changed the top folder of the website, which the present one may not see. */
  async function enter(): Promise<Generation> {
    const changedAt = await sandbox.root.changedAt();
    present ??= begin();
    const used = present;
    const generation = await used.catch((error: unknown) => {
      if (present === used) present = null;
      throw error;
    });
    // Counted before anyone else can retire it.
    generation.active += 1;
    if (generation.fpm.changedAt >= changedAt) return generation;
    if (present === used) {
      present = begin();
      generation.isFormer = true;
    }
    leave(generation);
    return enter();
  }

  function leave(generation: Generation): void {
    generation.active -= 1;
    if (generation.isFormer && generation.active === 0) generation.fpm.kill();
  }

  async function request(given: PhpRequest, abortion?: AbortSignal) {
    const { seconds, uploadMb } = site.limits;
    const body =
      given.body === null
        ? Buffer.alloc(0)
        : await untilAborted(bodyOf(given.body, uploadMb * MIB + FORM_BYTES), abortion);
    const release = await slots.take(abortion);
    begun();
    const generation = await enter().catch((error: unknown) => {
      done();
      release();
      throw error;
    });
    const target = asciiTarget(given.target);
    let isLate = false;
    const failure = (): PhpFailure =>
      isLate
        ? new PhpFailure('timeout', `the request took longer than ${seconds} s`)
        : new PhpFailure('failed', 'PHP ended early');
    const exchange = exchangeFastcgi(generation.fpm.socket, {
      params: requestParams(site, { ...given, target }),
      body,
      isBroken: (message) => message.includes(BROKEN),
      failure,
    });
    const late = setTimeout(() => {
      isLate = true;
    }, seconds * 1000);
    const tooLate = setTimeout(() => exchange.destroy(failure()), seconds * 1000 + LATE_MS);
    const giveUp = (): void => exchange.destroy(new PhpFailure('failed', 'nobody waits for the answer'));
    abortion?.addEventListener('abort', giveUp, { once: true });
    given.left?.addEventListener('abort', exchange.leave, { once: true });
    if (given.left?.aborted) exchange.leave();
    void exchange.ended.then(async () => {
      clearTimeout(late);
      clearTimeout(tooLate);
      abortion?.removeEventListener('abort', giveUp);
      given.left?.removeEventListener('abort', exchange.leave);
      done();
      release();
      leave(generation);
      // The query may have secrets.
      const name = `${given.method} ${target.split('?', 1)[0]}`;
      await keepLog(isLate ? `Homeport ended ${name}: ${failure().message}` : null);
    });
    try {
      const { status, headers, body: page } = await exchange.response;
      return { status, headers: headersOf(headers), body: page };
    } catch (error) {
      abortion?.throwIfAborted();
      throw error;
    }
  }

  /** Notes why a request was ended, and keeps the log short. */
  async function keepLog(text: string | null): Promise<void> {
    if (killed.aborted) return;
    try {
      if (text !== null) await errors.add(text, date());
      await errors.shorten();
    } catch (err) {
      log.debug({ err, install: site.id }, 'the error log of a website could not be written');
    }
  }

  /** Runs a script or program to its end. */
  async function execute(
    { files, command, environment }: ReturnType<typeof scriptStart>,
    { input, network, folder: cwd }: { input?: string | undefined; network: boolean; folder: string },
    take: Record<'stdout' | 'stderr', (chunk: Buffer) => void | Promise<void>>,
    abortion?: AbortSignal,
  ): Promise<number> {
    abortion?.throwIfAborted();
    const job = await sandbox.folderOf(files);
    begun();
    const ending = abortion === undefined ? killed : AbortSignal.any([killed, abortion]);
    try {
      const starting = sandbox.start(command, {
        job,
        network,
        hasInput: input !== undefined,
        folder: cwd,
        environment,
      });
      // While it starts, it uses folders that the end of the process removes.
      remember(starting.then(({ ended: over }) => over));
      const started = await starting;
      const end = started.kill;
      ending.addEventListener('abort', end, { once: true });
      if (ending.aborted) end();
      started.stdin?.end(input);
      const reading = Promise.all([
        pass(started.stdout, take.stdout),
        pass(started.stderr, take.stderr),
      ]).catch((error: unknown) => {
        end();
        throw error;
      });
      reading.catch(() => undefined);
      const code = await started.ended;
      ending.removeEventListener('abort', end);
      abortion?.throwIfAborted();
      killed.throwIfAborted();
      await reading;
      await keepLog(null);
      return code ?? FATAL;
    } finally {
      done();
      await rm(job, { recursive: true, force: true });
    }
  }

  async function run(script: PhpScript, abortion?: AbortSignal) {
    const { seconds = SCRIPT_SECONDS, outputBytes = OUTPUT_BYTES, network = true, input = '' } = script;
    const release = await slots.take(abortion);
    const output: Buffer[] = [];
    let bytes = 0;
    let error = '';
    const limit = new AbortController();
    const late = setTimeout(
      () => limit.abort(new PhpFailure('timeout', `the request took longer than ${seconds} s`)),
      seconds * 1000,
    );
    try {
      const exit = await execute(
        scriptStart(script),
        { input, network, folder: '/wordpress' },
        {
          stdout(chunk) {
            bytes += chunk.length;
            if (bytes <= outputBytes) output.push(chunk);
            else limit.abort(new PhpFailure('failed', 'the output is too long'));
          },
          stderr(chunk) {
            error = (error + chunk.toString('utf8')).slice(0, MOST_ERROR);
          },
        },
        abortion === undefined ? limit.signal : AbortSignal.any([abortion, limit.signal]),
      );
      return { output: Buffer.concat(output).toString('utf8'), error, exit };
    } finally {
      clearTimeout(late);
      release();
    }
  }

  return {
    version: php.version,
    pid: process.pid,
    ended,
    async kill() {
      await finish();
    },
    request,
    run,
    runProgram: (program: PhpProgram, take, abortion) =>
      execute(
        programStart(program, site.prepend),
        { input: program.input, network: true, folder: program.folder },
        take,
        abortion,
      ),
  };
}

async function pass(stream: Readable, take: (chunk: Buffer) => void | Promise<void>): Promise<void> {
  for await (const chunk of stream) await take(chunk);
}

async function bodyOf(stream: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    // Read to its end, so that the answer arrives.
    if (bytes <= most) chunks.push(Buffer.from(chunk));
  }
  if (bytes > most) throw new PhpFailure('too_large', 'the body is too large');
  return Buffer.concat(chunks);
}

function headersOf(list: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  // PHP chooses the names, which can be those of properties that every object has.
  const headers = new Map<string, string | string[]>();
  for (const [name, value] of list) {
    if (OWN_HEADERS.has(name) || name.startsWith(OWN_PREFIX)) continue;
    // A plugin's header with forbidden characters is left out.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) continue;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : [...[before].flat(), value]);
  }
  return Object.fromEntries(headers);
}
