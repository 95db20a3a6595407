import { mkdir, readdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { mapConcurrent } from '../../lib/concurrency.ts';
import { parseUuid } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { LogSource } from '../contract/logs.ts';
import { wasmRecords } from '../runtime/wasm/wasm-runtime.ts';
import { createAccessLogs } from '../websites/logs/access-logs.ts';
import { createHostLogs, type HostLogs } from '../websites/logs/host-logs.ts';
import type { LogRules } from '../websites/logs/upkeep.ts';
import { createRequestLog, type RequestLog } from './edge/request-log.ts';
import type { Layout } from './host-folder/layout.ts';
import type { VhostStore } from './host-folder/vhost-store.ts';
import { runtimeFoldersOf } from './wordpress/site.ts';

/** The logs of the websites of this host. */
export interface WebsiteLogs extends LogSource, Pick<HostLogs, 'append'> {
  /** Answered requests go here. */
  requests: Pick<RequestLog, 'add'>;
  /** Creates the folder of an install's logs. Without it, entries are dropped. */
  provide(installId: string): Promise<void>;
  start(): Promise<void>;
  /** Writes what is left. */
  stop(): Promise<void>;
}

interface WebsiteLogsOptions {
  layout: Layout;
  store: Pick<VhostStore, 'list' | 'stamp'>;
  rules: LogRules;
  /** Whether this process writes the logs. Others read them. */
  isServing: boolean;
  log: Logger;
  clock: Clock;
}

/** Websites at the start. */
const PROVIDED_AT_ONCE = 16;

export function createWebsiteLogs({
  layout,
  store,
  rules,
  isServing,
  log,
  clock,
}: WebsiteLogsOptions): WebsiteLogs {
  /** Installs with logs. Those that are set aside, and are not served, count too: addresses in their logs must be shortened. */
  async function kept(): Promise<string[]> {
    return ((await ifThere(readdir(layout.logs))) ?? []).filter((name) => parseUuid(name) === name);
  }

  const logs = createHostLogs({
    recordsOf: (installId) => wasmRecords(runtimeFoldersOf(layout, installId)),
    rules,
    installs: kept,
    clock,
    log,
  });
  const requests = createRequestLog({
    accessLogs: createAccessLogs(logs, { wholeAddresses: rules.wholeAddressMs !== 0 }),
    log,
    clock,
  });

  async function provide(installId: string): Promise<void> {
    await mkdir(layout.logsOf(installId), { recursive: true, mode: 0o700 });
  }

  return {
    append: logs.append,
    requests,
    provide,
    async start() {
      // Websites of earlier versions have none.
      await mapConcurrent(await store.list(), PROVIDED_AT_ONCE, provide);
      requests.start();
      logs.start();
    },
    async stop() {
      await requests.stop();
      await logs.stop();
    },
    async readLog({ id, name }, query, signal) {
      if (store.stamp(id) === null) throw new PermanentHostError(`this host has no website ${name}`);
      // Else the newest entries would be missing at the end.
      if (isServing && (query.cursor === null || query.direction === 'newer')) {
        if (query.kind === 'access') await requests.flush();
        if (query.kind === 'php') await logs.collectErrors(id);
      }
      return logs.read(id, query, signal);
    },
  };
}
