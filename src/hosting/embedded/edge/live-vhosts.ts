import type { FSWatcher } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery, singleFlight } from '../../../lib/concurrency.ts';
import { parseVhost, type Vhost } from '../host-folder/vhost.ts';
import type { VhostStore } from '../host-folder/vhost-store.ts';
import { createRoutingTable, type Route } from './routing.ts';

/** The folder of vhost files in memory, kept up to date whichever process writes there. */
export interface LiveVhosts {
  /** Loads every file and begins to watch. Unusable files are logged and skipped. */
  start(): Promise<void>;
  stop(): void;
  /** The known website for a host name. */
  known(host: string): Route | undefined;
  /** As above, but reads the folder first if the name is unknown, at most once a second. */
  find(host: string): Promise<Route | undefined>;
  /** Loads an install's file if it has changed. The change is active on return. */
  refresh(installId: string): void;
  /** Every website, as it is served now. */
  all(): Iterable<Vhost>;
  readonly size: number;
}

export interface LiveVhostsOptions {
  store: VhostStore;
  siteDomain: string;
  clock: Clock;
  log: Logger;
}

const SCAN_EVERY_MS = 1000;
/** In case the system dropped a change notification. */
const BACKGROUND_SCAN_MS = 60_000;
const LOADED_AT_ONCE = 50;

export function createLiveVhosts({ store, siteDomain, clock, log }: LiveVhostsOptions): LiveVhosts {
  const table = createRoutingTable();
  /** The stamp of each file when it was loaded, unusable files included. */
  const stamps = new Map<string, string>();
  let watcher: FSWatcher | undefined;
  let scans: Repetition | undefined;
  let isScanning = false;
  let scannedAt = Number.NEGATIVE_INFINITY;
  let lastFolderStamp: string | null = null;
  let unchangedSince: string | null = null;

  function refresh(installId: string): void {
    const stamp = store.stamp(installId);
    if (stamp !== null && stamp === stamps.get(installId)) return;
    const text = stamp === null ? null : store.readText(installId);
    if (stamp === null || text === null) {
      stamps.delete(installId);
      table.delete(installId);
      return;
    }
    stamps.set(installId, stamp);
    const vhost = parsed(installId, text);
    if (vhost === null) table.delete(installId);
    else take(vhost);
  }

  function parsed(installId: string, text: string): Vhost | null {
    try {
      const vhost = parseVhost(text, siteDomain);
      if (vhost.id !== installId) throw new Error('belongs to another install');
      return vhost;
    } catch (err) {
      log.error(
        { err, install: installId },
        'the vhost file of this install cannot be used; it is not served',
      );
      return null;
    }
  }

  function take(vhost: Vhost): void {
    table.set(vhost);
    const contested = table.contested(vhost.id);
    if (contested.length > 0) {
      log.warn({ install: vhost.id, contested }, 'host names that more than one install claims');
    }
  }

  async function refreshAll(installIds: Iterable<string>): Promise<void> {
    let done = 0;
    for (const installId of installIds) {
      refreshOrLog(installId);
      // Lets visitors be answered in between.
      if (++done % LOADED_AT_ONCE === 0) await nextTurn();
    }
  }

  function refreshOrLog(installId: string): void {
    try {
      refresh(installId);
    } catch (err) {
      log.error({ err, install: installId }, 'the vhost file of this install cannot be read');
    }
  }

  /** All installs that have or had a file. */
  async function everyInstall(): Promise<Set<string>> {
    return new Set([...(await store.list()), ...stamps.keys()]);
  }

  /** Loads all changes in the folder. */
  async function scan(): Promise<void> {
    const stamp = await store.folderStamp();
    if (stamp === unchangedSince) return;
    await refreshAll(await everyInstall());
    // Two writes within one tick of the file system's clock look alike, so only the second equal reading counts.
    unchangedSince = stamp === lastFolderStamp ? stamp : null;
    lastFolderStamp = stamp;
  }

  const logUnreadable = (err: unknown) => log.error({ err }, 'the folder of vhost files cannot be read');

  const scanOnce = singleFlight(async () => {
    isScanning = true;
    scannedAt = clock.now().getTime();
    try {
      await scan();
    } catch (err) {
      logUnreadable(err);
    } finally {
      isScanning = false;
    }
  });

  return {
    async start() {
      await store.prepare(clock.now());
      // Watches first, so writes during loading are noticed.
      watcher = store.watch(refreshOrLog, (err) =>
        log.error({ err }, 'changes in the folder of vhost files are noticed late'),
      );
      await refreshAll(await everyInstall());
      scans = repeatEvery(scanOnce, { delayMs: BACKGROUND_SCAN_MS, onError: logUnreadable });
    },
    stop() {
      watcher?.close();
      void scans?.stop();
    },
    known: (host) => table.find(host),
    async find(host) {
      const route = table.find(host);
      if (route !== undefined) return route;
      if (isScanning || clock.now().getTime() - scannedAt >= SCAN_EVERY_MS) await scanOnce();
      return table.find(host);
    },
    refresh,
    all: table.all,
    get size() {
      return table.size;
    },
  };
}
