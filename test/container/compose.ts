import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../machine/guest.ts';
import type { Report } from '../machine/report.ts';
import { type Container, containerOf } from './container.ts';
import type { Engine } from './engine.ts';
import { IMAGE } from './image.ts';
import { failureOf } from './upgrade.ts';
import { checkReaping, checkWalls, findingsOf } from './walls.ts';
import { createWebsite, seeWebsite, visitWebsite } from './website.ts';

export interface ComposeOptions {
  engine: Engine;
  report: Report;
  clone: string;
  patienceMs: number;
}

const OF_PROJECT = ['--filter', 'label=com.docker.compose.project=homeport-test'];
/** Of compose.yaml, in MiB. Websites get half. */
const MEMORY_MB = 4_096;
const STOP_SECONDS = 20;

/** Starts compose.yaml as it is, and uses it until it is stopped and started again. */
export async function checkCompose({ engine, report, clone, patienceMs }: ComposeOptions): Promise<void> {
  const down = () => engine.compose(clone, ['down', '--volumes']).catch(() => '');
  await down();
  let container: Container | null = null;
  const isUp = await report.check('compose.yaml starts, and the server becomes ready', async () => {
    const began = Date.now();
    await engine.compose(clone, ['up', '-d', '--no-build']);
    const [name = ''] = (await engine.run(['ps', '--quiet', ...OF_PROJECT])).split('\n');
    const started = containerOf(engine, name);
    container = started;
    await until('it is ready', patienceMs, async () => (await started.get('/readyz')) === 'ok\n');
    report.step(`ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  });
  if (isUp && container !== null) await checkContainer(container, { engine, report, patienceMs });
  await down();
  await report.check('a volume of another user gives a clear error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-volume-'));
    try {
      // As Docker makes a folder that is missing. Into one that is closed to others, the engine itself cannot go.
      await chmod(folder, 0o755);
      const run = engine.run(['run', '--rm', '--volume', `${folder}:/var/lib/homeport`, IMAGE]);
      assert.match(await failureOf(run), /data folder \/var\/lib\/homeport\/data cannot be used/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

async function checkContainer(
  container: Container,
  { engine, report, patienceMs }: Omit<ComposeOptions, 'clone'>,
): Promise<void> {
  const name = container.name;
  await report.check('the process has another user, no capabilities and a read-only root', () =>
    checkWalls(container),
  );
  await report.check('processes whose parent has ended are reaped', () => checkReaping(container));
  await report.check('the health check sees a server, and a missing one', async () => {
    await until('it is healthy', patienceMs, () => engine.isHealthy(name));
    const check = 'HOMEPORT_LISTEN=0.0.0.0:1 node /opt/homeport/deploy/container-health.mjs';
    assert.equal(await container.shell(`${check} > /dev/null; echo $?`), '1');
  });
  await report.check('the portal has a page', async () => {
    assert.match(await container.get('/'), /<div id="/);
  });
  let picture = '';
  const isUsed = await report.check(
    'a WordPress is created, and serves pages, files and wp-admin',
    async () => {
      const id = await createWebsite(container, patienceMs);
      picture = await visitWebsite(container, id);
    },
  );
  await report.check('bubblewrap confines its PHP, within the memory of the container', async () => {
    assert.match(await container.logs(), /"walls":"bubblewrap, /);
    const findings = (await findingsOf(container)).map(({ message }) => message);
    assert.ok(!findings.some((message) => message.includes('without bubblewrap')), findings.join('\n'));
    assert.ok(
      findings.some((message) => message.includes(`${MEMORY_MB / 2} MiB let`)),
      findings.join('\n'),
    );
  });
  report.step(`memory: ${await engine.run(['stats', '--no-stream', '--format', '{{.MemUsage}}', name])}`);
  await report.check('a stop ends it in time, with the status 0', async () => {
    await engine.run(['stop', '--time', String(STOP_SECONDS), name]);
    assert.equal(await container.inspect('{{.State.ExitCode}}'), '0');
  });
  await report.check('a start afterwards has everything', async () => {
    await engine.run(['start', name]);
    await until('it is ready', patienceMs, async () => (await container.get('/readyz')) === 'ok\n');
    if (isUsed) await until('the website is served', patienceMs, () => seeWebsite(picture));
  });
}
