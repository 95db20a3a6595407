import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openPlatform } from '../src/app/open-platform.ts';
import { examine } from '../src/cli/doctor/examine.ts';
import { readConfig } from '../src/config/config.ts';
import { loadDesiredState } from '../src/features/provisioning/desired-state.ts';
import { EMBEDDED } from '../src/features/provisioning/orphan-store.ts';
import { applyChanged, reconcileHost } from '../src/features/provisioning/reconciliation.ts';
import { nextGenerations } from '../src/hosting/embedded/host-folder/generations.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';
import { vhostFileFor } from '../src/hosting/embedded/host-folder/vhost.ts';
import { createEmbeddedInventory } from '../src/hosting/embedded/inventory.ts';
import { serializeByKey } from '../src/lib/concurrency.ts';
import type { Platform } from '../src/platform/platform.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { seedAccount } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- fleet-checks`: processor time of the hourly reconciliation and of `homeport doctor` for each install, with 1,000 and with
 * 10,000 installs of the embedded host. `--few` and `--many` set the sizes.
 */
const { values: options } = parseArgs({
  options: { few: { type: 'string', default: '1000' }, many: { type: 'string', default: '10000' } },
  strict: false,
});
const SIZES = [Number(options.few), Number(options.many)] as const;
const ROUNDS = 3;
const PRIVATE = '127.0.0.1:0';
const log = pino({ level: 'silent' });

interface Fleet {
  installs: number;
  platform: Platform;
  inventory: ReturnType<typeof createEmbeddedInventory>;
}

async function makeFleet(folder: string, installs: number): Promise<Fleet> {
  const config = readConfig({
    HOMEPORT_DATA_DIR: folder,
    HOMEPORT_LISTEN: PRIVATE,
    HOMEPORT_EDGE_HTTP: PRIVATE,
    HOMEPORT_EDGE_HTTPS: PRIVATE,
    HOMEPORT_SSH_LISTEN: PRIVATE,
    HOMEPORT_EMBEDDED_PHP_MB: '0',
  });
  const { installIds } = await seedAccount(config, installs);
  const platform = await openPlatform(config, { log });
  const layout = layoutOf(join(folder, 'host'));
  for (const place of [layout.vhosts, layout.installs]) mkdirSync(place, { recursive: true });
  for (const id of installIds) {
    const state = await loadDesiredState(platform, id);
    if (state === undefined) throw new Error(`no state of ${id}`);
    const file = vhostFileFor(state, nextGenerations(null, Date.now()), platform.sealer);
    writeFileSync(layout.vhostOf(id), JSON.stringify(file, null, 1));
    mkdirSync(layout.filesOf(id), { recursive: true });
  }
  const inventory = createEmbeddedInventory({ layout, serially: serializeByKey(), onAside() {} });
  return { installs, platform, inventory };
}

async function reconcile({ platform, inventory, installs }: Fleet): Promise<void> {
  const { known, orphans } = await reconcileHost(platform, inventory, EMBEDDED);
  if (known.length !== installs || orphans.length > 0) throw new Error('the host differs from the database');
  await applyChanged(platform, known, new AbortController().signal);
}

async function doctor({ platform }: Fleet): Promise<void> {
  const findings = await examine(platform.config, { log });
  if (findings.length < 10) throw new Error('doctor did not run');
}

/** Microseconds of processor time for each install. */
async function costOf(fleet: Fleet, work: (fleet: Fleet) => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work(fleet);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / fleet.installs;
}

const folders = SIZES.map(() => temporaryFolder());
const fleets: Fleet[] = [];
try {
  for (const [at, installs] of SIZES.entries())
    fleets.push(await makeFleet(folders[at]?.path ?? '', installs));
  const report = createReport('fleet-checks');
  report.part(`Checks of a fleet, processor time for each of ${SIZES[1]} installs beside ${SIZES[0]}`);
  for (const [what, work] of [
    ['hourly reconciliation', reconcile],
    ['doctor', doctor],
  ] as const) {
    const costs: number[][] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const pair: number[] = [];
      for (const fleet of fleets) pair.push(await costOf(fleet, work));
      if (round >= 0) costs.push(pair);
    }
    const of = (at: number) => median(costs.map((pair) => pair[at] ?? 0));
    report.figure({
      what,
      value: of(1) / of(0),
      unit: 'ratio',
      measured: `${of(1).toFixed(0)} µs`,
      beside: `${of(0).toFixed(0)} µs`,
      goal: { atMost: 1.3 },
    });
  }
  report.end();
  report.finish();
} finally {
  for (const { platform } of fleets) await platform.database.close();
  for (const folder of folders) folder.remove();
}
