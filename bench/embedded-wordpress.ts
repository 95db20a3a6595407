import { parseArgs } from 'node:util';
import { requirePackagedFiles } from '../src/hosting/wordpress/packaged-files.ts';
import { messageOf } from '../src/lib/error-message.ts';
import { measureAtOnce } from './embedded-wordpress/at-once.ts';
import { measureCachedPage } from './embedded-wordpress/cached-page.ts';
import { measureFirstPages } from './embedded-wordpress/first-pages.ts';
import { measureMachinePhp } from './embedded-wordpress/machine-php.ts';
import { type Platform, startPlatform } from './embedded-wordpress/platform.ts';
import { measureRest } from './embedded-wordpress/rest.ts';
import { measureSoak } from './embedded-wordpress/soak.ts';
import { createReport, REPORT_OPTIONS, REPORT_USAGE, type Report } from './measure/report.ts';

/**
 * `npm run bench:embedded -- embedded-wordpress [CORE]`: WordPress in the embedded host. CORE is a folder with WordPress 6.4 or newer, by
 * default the packaged one. `--soak` is the number of requests of the soak. `--only=<part>` runs one part. Linux only.
 */
const PARTS: Record<string, (platform: Platform, report: Report, soak: number) => Promise<void>> = {
  first: measureFirstPages,
  at_once: measureAtOnce,
  cached: measureCachedPage,
  machine: measureMachinePhp,
  soak: measureSoak,
  rest: measureRest,
};
const SOAK = '5000';
const USAGE = `Usage: npm run bench:embedded -- embedded-wordpress [CORE] [--only=${Object.keys(PARTS).join('|')}] [--soak=${SOAK}] ${REPORT_USAGE}\n`;

function chosen(): { core: string; names: string[]; soak: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { only: { type: 'string' }, soak: { type: 'string', default: SOAK }, ...REPORT_OPTIONS },
    });
    const [core = requirePackagedFiles().wordpress] = positionals;
    const { only, soak } = values;
    if (positionals.length > 1) throw new Error('Give one folder with WordPress.');
    if (only !== undefined && PARTS[only] === undefined) throw new Error(`There is no part "${only}".`);
    if (!/^[1-9]\d*$/.test(soak)) throw new Error('--soak is a number of requests.');
    return { core, names: only === undefined ? Object.keys(PARTS) : [only], soak: Number(soak) };
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}`);
    process.exit(2);
  }
}

const { core, names, soak } = chosen();
const report = createReport('embedded-wordpress');
const platform = await startPlatform({ HOMEPORT_WORDPRESS_SOURCE: core });
try {
  for (const name of names) await PARTS[name]?.(platform, report, soak);
} finally {
  await platform.stop();
}
report.finish();
