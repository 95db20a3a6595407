/**
 * `npm run test:container [-- --base IMAGE --fresh --present --slowness 5]`: builds the image with Docker or Podman, and runs compose.yaml. The
 * base image is made from Debian's packages, unless IMAGE is given. `--fresh` makes it again, and `--present` tests the image `homeport` that is
 * there. The ports 8443, 8080 and 443 of this machine must be free.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/lib/error-message.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { createReport } from '../machine/report.ts';
import { BASE, loadBase } from './base-image.ts';
import { checkCompose } from './compose.ts';
import { checkControlPlane } from './control-plane.ts';
import { type Engine, findEngine } from './engine.ts';
import { buildImage, sizesOf } from './image.ts';
import { checkProduction } from './production.ts';
import { checkUpgrade } from './upgrade.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATIENCE_MS = 60_000;
const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    present: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    slowness: { type: 'string', default: '5' },
  },
});
process.exitCode = await testContainer();

/** 0 if everything was run and passed. */
async function testContainer(): Promise<number> {
  const report = createReport((line) => process.stdout.write(line), Date.now);
  let engine: Engine;
  try {
    report.step('looking for an engine, and making the base image');
    engine = await findEngine(values.base ?? BASE, async (one) => {
      if (values.fresh) await one.run(['rmi', '--force', BASE]).catch(() => '');
      if (values.base === undefined) await loadBase(one);
    });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
  report.step(`engine: ${engine.name}; base: ${values.base ?? `Debian's packages (${BASE})`}`);
  const patienceMs = PATIENCE_MS * Number(values.slowness);
  const folder = await mkdtemp(join(tmpdir(), 'homeport-container-'));
  try {
    const clone = join(folder, 'homeport');
    await runCommand('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
    if (values.present) report.step('not run: building the image (--present)');
    const isBuilt =
      values.present ||
      (await report.check('the image is built from a clone', () =>
        buildImage(engine, clone, values.base ?? BASE),
      ));
    if (isBuilt) {
      for (const line of await sizesOf(engine)) report.step(line);
      await checkCompose({ engine, report, clone, patienceMs });
      await checkControlPlane({ engine, report, clone, patienceMs });
      await checkProduction({ engine, report, clone, patienceMs }, values.base ?? BASE);
      await checkUpgrade({ engine, report, patienceMs });
    }
  } finally {
    await engine.close();
    await rm(folder, { recursive: true });
  }
  const { passed, failed } = report.counts();
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}
