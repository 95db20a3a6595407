import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/**
 * Starts a new image on the volume of an older one, and the older one on that of the new one and on the restored backup, as docs/container.md
 * says. Without any options for security.
 */
export async function checkUpgrade(options: UpgradeOptions): Promise<void> {
  await removeAll(options.engine);
  const folder = await mkdtemp(join(tmpdir(), 'homeport-upgrade-'));
  try {
    await checkBothWays(options, folder);
  } finally {
    await removeAll(options.engine);
    await rm(folder, { recursive: true });
  }
}

async function checkBothWays({ engine, report, patienceMs }: UpgradeOptions, folder: string): Promise<void> {
  const container = containerOf(engine, NAME);
  let account = '';
  await report.check('an older image makes a volume', async () => {
    await makeOlderImage(engine);
    await engine.run(['volume', 'create', VOLUME]);
    await start(engine, OLDER, container, patienceMs);
    assert.match(await container.homeport('--version'), new RegExp(`^${OLDER_VERSION}`));
    account = await accountOf(container);
  });
  await report.check('a backup is made in it, and copied out of it', async () => {
    await container.homeport('platform', 'backup', 'create', 'backups', '--with-sealing-key');
    await engine.run(['cp', `${NAME}:/var/lib/homeport/backups`, folder]);
    await remove(engine);
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
    await remove(engine);
    const refused = await failureOf(engine.run(['run', '--rm', ...OPTIONS, OLDER]));
    assert.ok(refused.includes(OLDER_VERSION) && refused.includes(version), refused);
  });
  await report.check('the older image restores the backup into an empty volume, and serves it', async () => {
    await removeAll(engine);
    const backups = ['--volume', `${join(folder, 'backups')}:/backups`];
    const owner = ['--user', '0', '--entrypoint', 'chown', OLDER, '-R', '10001:10001', '/backups'];
    await engine.run(['run', '--rm', ...backups, ...owner]);
    const [name = ''] = await readdir(join(folder, 'backups'));
    const restore = [OLDER, 'platform', 'restore', `/backups/${name}`];
    await engine.run(['run', '--rm', ...OPTIONS, ...backups, ...restore]);
    await start(engine, OLDER, container, patienceMs);
    assert.equal(await accountOf(container), account);
  });
}

async function start(engine: Engine, image: string, container: Container, patienceMs: number): Promise<void> {
  // That of a failed check.
  await engine.run(['rm', '--force', NAME]).catch(() => '');
  await engine.run(['run', '--detach', '--name', NAME, ...OPTIONS, image]);
  await until('it is ready', patienceMs, async () => (await container.get('/readyz')) === 'ok\n');
}

/** Without the volume. */
async function remove(engine: Engine): Promise<void> {
  await engine.run(['stop', '--time', '30', NAME]);
  await engine.run(['rm', NAME]);
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
