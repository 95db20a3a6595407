import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { InstallState } from '../../src/hosting/host.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../src/hosting/linux/layout.ts';
import { runCommand } from '../../src/hosting/linux/run-command.ts';
import type { RunningMachine } from '../../src/linux-host.ts';
import { createTestMachine, type TestMachine } from './machine.ts';
import { plainState } from './state.ts';

let machine: TestMachine;
let running: RunningMachine;
let install: InstallState;

beforeAll(async () => {
  machine = await createTestMachine();
  running = await machine.start();
  install = plainState('drifting');
  await running.host.apply(install);
});
afterAll(() => machine?.remove());
beforeEach(async () => {
  expect(await running.host.inspect([install], false)).toEqual([]);
});

const layout = () => linuxLayout(machine.folder, machine.runFolder);
const sql = (statement: string) =>
  runCommand('mariadb', ['--no-defaults', '--socket', layout().mariadbSocket, '--execute', statement]);

/** Says what is found, that repairing mends it, and that nothing is left then. */
async function expectMended(thing: string | RegExp, message: RegExp): Promise<void> {
  const found = await running.host.inspect([install], false);
  expect(found).toContainEqual({
    thing: expect.stringMatching(thing),
    message: expect.stringMatching(message),
    mended: null,
    remedy: '"homeport doctor --host --repair" mends it.',
  });
  const mended = await running.host.inspect([install], true);
  expect(mended.map((difference) => difference.mended)).toEqual(mended.map(() => true));
  expect(await running.host.inspect([install], false)).toEqual([]);
}

test('a Unix user that was removed is made again', async () => {
  await createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids }).remove(install.id);
  await expectMended(/unix user/, /no user drifting/);
});

test('a folder that others may read is closed', async () => {
  await chmod(layout().privateOf(install.id), 0o777);
  await expectMended(/folders/, /private/);
});

test('a vhost that was changed by hand is written anew', async () => {
  const vhosts = join(layout().nginx, 'vhosts');
  const [name = ''] = (await readdir(vhosts)).filter((entry) => entry.startsWith(install.id));
  await writeFile(join(vhosts, name), '# gone\n');
  await expectMended(/web server/, /./);
});

test('the firewall is put back', async () => {
  await runCommand('nft', ['delete', 'table', 'inet', `homeport_${machine.instance}`]);
  await expectMended(/firewall/, /./);
});

test('what belongs to no install is taken away, but data of nobody knows whom', async () => {
  const stray = crypto.randomUUID();
  const users = createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids });
  await users.ensure({ installId: stray, name: 'stray', home: layout().homeOf(stray), shell: '/bin/sh' });
  await expectMended(/unix user stray/, /belongs to no install/);

  await sql('CREATE DATABASE hp_stray');
  const found = await running.host.inspect([install], true);
  expect(found).toEqual([
    expect.objectContaining({
      thing: 'database hp_stray',
      mended: false,
      remedy: expect.stringMatching(/Look/),
    }),
  ]);
  await sql('DROP DATABASE hp_stray');
});

test('an install that the control plane does not know, and one that is not here, are named', async () => {
  const unknown = await running.host.inspect([], true);
  expect(unknown).toEqual([
    expect.objectContaining({
      thing: 'install drifting',
      mended: false,
      message: expect.stringMatching(/no such install/),
    }),
  ]);
  const missing = await running.host.inspect([install, { id: crypto.randomUUID(), name: 'lost' }], true);
  expect(missing).toEqual([
    expect.objectContaining({
      thing: 'install lost',
      mended: false,
      remedy: expect.stringMatching(/installs apply lost/),
    }),
  ]);
});

test('a lost database is named, with what brings it back', async () => {
  const record = await readFile(layout().recordOf(install.id), 'utf8');
  const database = /hp_[0-9a-f]+/.exec(record)?.[0] ?? 'not found';
  await sql(`DROP DATABASE ${database}`);
  const found = await running.host.inspect([install], true);
  expect(found).toContainEqual(
    expect.objectContaining({
      thing: 'install drifting: database',
      mended: false,
      remedy: expect.stringMatching(/restore/),
    }),
  );
  await sql(`CREATE DATABASE ${database}`);
});
