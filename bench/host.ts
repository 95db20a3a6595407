import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { missingPackages } from '../src/hosting/linux/setup/packages.ts';
import { messageOf } from '../src/lib/error-message.ts';
import { benchAddedDomains } from './host/added-domains.ts';
import { benchBackups } from './host/backups.ts';
import { benchCachedPages } from './host/cached-pages.ts';
import { cleanUpAll } from './host/cleanup.ts';
import { benchHostNames } from './host/host-names.ts';
import { benchManyInstalls } from './host/many-installs.ts';
import { benchNeighbours } from './host/neighbours.ts';
import { benchProvisioning } from './host/provisioning.ts';
import { benchPurging } from './host/purging.ts';
import { benchRecoveryPoints } from './host/recovery-points.ts';
import { benchRequests } from './host/requests.ts';
import { benchUpdates } from './host/updates.ts';
import { benchUsage } from './host/usage.ts';
import { createReport, REPORT_OPTIONS, REPORT_USAGE, type Run } from './measure/report.ts';

/**
 * `npm run bench:host`, as root on Debian: the cost of the Linux host. Real daemons run in separate folders, ports and users, which are removed at
 * the end. `--only=<part>` runs one part, `--quick` fewer and shorter measurements.
 */
const PARTS: Record<string, (run: Run) => Promise<void>> = {
  provisioning: benchProvisioning,
  requests: benchRequests,
  usage: benchUsage,
  neighbours: benchNeighbours,
  pages: benchCachedPages,
  purging: benchPurging,
  domains: benchAddedDomains,
  names: benchHostNames,
  installs: benchManyInstalls,
  backups: benchBackups,
  points: benchRecoveryPoints,
  updates: benchUpdates,
};
const USAGE = `usage: npm run bench:host -- [--only=${Object.keys(PARTS).join('|')}] [--quick] ${REPORT_USAGE}\n`;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function chosenParts(): { names: string[]; quick: boolean } {
  try {
    const { values } = parseArgs({
      options: { only: { type: 'string' }, quick: { type: 'boolean' }, ...REPORT_OPTIONS },
    });
    const { only, quick = false } = values;
    if (only !== undefined && PARTS[only] === undefined) throw new Error(`There is no part "${only}".`);
    return { names: only === undefined ? Object.keys(PARTS) : [only], quick };
  } catch (error) {
    fail(`${messageOf(error)}\n${USAGE}`);
  }
}

const WRK = '/usr/bin/wrk';

/** Debian packages that the parts need and this machine lacks. */
async function missingOnes(): Promise<string[]> {
  return [...(await missingPackages()), ...(existsSync(WRK) ? [] : ['wrk'])];
}

const { names, quick } = chosenParts();
if (process.getuid?.() !== 0) fail('The bench creates Unix users and daemons: run it as root.');
const missing = await missingOnes();
if (missing.length > 0) {
  fail(
    `Programs are missing. Install them first: apt-get install --no-install-recommends ${missing.join(' ')}`,
  );
}
let ending: Promise<void> | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (ending !== null) return;
    process.stderr.write('\nInterrupted: cleaning up …\n');
    ending = cleanUpAll().then(() => process.exit(130));
  });
}

/** What is taken away while a part still works with it makes that part fail, which then is nothing to tell. */
async function runPart(name: string, run: Run): Promise<void> {
  try {
    await PARTS[name]?.(run);
  } catch (error) {
    if (ending === null) throw error;
    await ending;
  }
}

const report = createReport('host');
for (const name of names) {
  process.stderr.write(`${name}\n`);
  await runPart(name, { report, quick });
}
report.finish();
