import assert from 'node:assert/strict';
import { CommandError } from '../../src/lib/run-command.ts';
import { until } from '../machine/guest.ts';
import type { Report } from '../machine/report.ts';
import { accountOf, type Container, containerOf } from './container.ts';
import type { Engine } from './engine.ts';
import { IMAGE } from './image.ts';
import { makeOlderImage, OLDER, OLDER_VERSION } from './older-image.ts';
import { findingsOf } from './walls.ts';

const NAME = 'homeport-test-upgrade';
const VOLUME = 'homeport-test-upgrade';
const OPTIONS = ['--publish', '127.0.0.1:8443:8443', '--volume', `${VOLUME}:/var/lib/homeport`];

export interface UpgradeOptions {
  engine: Engine;
  report: Report;
  patienceMs: number;
}

/** Starts a new image on the volume of an older one, and the older one on that of the new one. Without any options for security. */
export async function checkUpgrade({ engine, report, patienceMs }: UpgradeOptions): Promise<void> {
  await removeAll(engine);
  const container = containerOf(engine, NAME);
  let account = '';
  await report.check('an older image makes a volume', async () => {
    await makeOlderImage(engine);
    await engine.run(['volume', 'create', VOLUME]);
    await start(engine, OLDER, container, patienceMs);
    assert.match(await container.homeport('--version'), new RegExp(`^${OLDER_VERSION}`));
    account = await accountOf(container);
    await engine.run(['rm', '--force', '--time', '30', NAME]);
  });
  await report.check('a new image brings it up to date and keeps what is in it', async () => {
    await start(engine, IMAGE, container, patienceMs);
    assert.equal(await accountOf(container), account);
  });
  await report.check('doctor says that PHP runs without bubblewrap, and what to do', async () => {
    const finding = (await findingsOf(container)).find(({ message }) => /without bubblewrap/.test(message));
    assert.match(finding?.remedy ?? '', /"security_opt" of compose\.yaml/);
  });
  await report.check('the older image refuses the newer volume and names both versions', async () => {
    const version = (await container.homeport('--version')).split(' ')[0] ?? '';
    await engine.run(['rm', '--force', '--time', '30', NAME]);
    const refused = await failureOf(engine.run(['run', '--rm', ...OPTIONS, OLDER]));
    assert.ok(refused.includes(OLDER_VERSION) && refused.includes(version), refused);
  });
  await removeAll(engine);
}

async function start(engine: Engine, image: string, container: Container, patienceMs: number): Promise<void> {
  await engine.run(['run', '--detach', '--name', NAME, ...OPTIONS, image]);
  await until('it is ready', patienceMs, async () => (await container.get('/readyz')) === 'ok\n');
}

async function removeAll(engine: Engine): Promise<void> {
  await engine.run(['rm', '--force', NAME]).catch(() => '');
  await engine.run(['volume', 'rm', '--force', VOLUME]).catch(() => '');
}

/** The output of a command that must fail. */
export async function failureOf(running: Promise<string>): Promise<string> {
  const result = await running.catch((error: unknown) => error);
  if (result instanceof CommandError && result.status !== null) return result.stderr + result.stdout;
  throw result instanceof Error ? result : new Error('It succeeded.');
}
