import { once } from 'node:events';
import { watch } from 'node:fs';
import { rename, rmdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PhpFailure } from '../wasm/php-sites.ts';
import { SETTINGS } from './php-settings.ts';
import { FPM } from './sandbox.ts';
import { followLines } from './start-sandbox.ts';
import { FPM_CONF, fpmSocketIn, type SandboxedProgram, type WebsiteSandbox } from './website-sandbox.ts';

const START_MS = 2 * MINUTE_MS;
const PAUSE_MS = 5;

/** A process manager of PHP that listens. */
export interface Fpm extends SandboxedProgram {
  socket: string;
  /** The last lines that it has written. */
  lines: readonly string[];
}

/** Starts PHP-FPM. Its socket is moved to where PHP cannot replace it by a link to another website's. */
export async function startFpm(sandbox: WebsiteSandbox, log: Logger, signal: AbortSignal): Promise<Fpm> {
  signal.throwIfAborted();
  const listen = await sandbox.folderOf({});
  const socket = `${listen}.sock`;
  const started = await sandbox.start(
    [...[FPM, '--nodaemonize', '--force-stderr', '-c', `${SETTINGS}/php.ini`], ...['--fpm-config', FPM_CONF]],
    { listen },
  );
  signal.addEventListener('abort', started.kill, { once: true });
  started.stdout.resume();
  const lines = followLines(started.stderr, log);
  const made = fpmSocketIn(listen);
  let isOver = false;
  const ended = started.ended.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  try {
    await appeared(made, listen, ended);
    // It is there before FPM listens at it.
    while (!isOver && !(await connects(made))) await sleep(PAUSE_MS);
    if (isOver) throw new PhpFailure('failed', `PHP-FPM did not start: ${lines.at(-1) ?? 'no message'}`);
    await rename(made, socket);
    // It can be in memory, which PHP could fill. A removed folder takes no files.
    await rmdir(listen);
    return { ...started, socket, lines };
  } catch (error) {
    started.kill();
    await ended;
    signal.throwIfAborted();
    throw error;
  }
}

/** Waits for a file, at most until `ended`. */
async function appeared(path: string, folder: string, ended: Promise<void>): Promise<void> {
  const late = new AbortController();
  const watcher = watch(folder);
  const changed = new Promise<void>((resolve) => watcher.once('change', () => resolve()));
  try {
    if ((await ifThere(stat(path))) !== null) return;
    const timer = sleep(START_MS, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([changed, ended, timer]);
    if ((await ifThere(stat(path))) === null) throw new PhpFailure('failed', 'PHP-FPM did not start');
  } finally {
    watcher.close();
    late.abort();
  }
}

async function connects(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
