import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallRef } from '../../src/hosting/contract/install-ref.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { createRecords } from '../../src/hosting/linux/machine/record.ts';
import { cgroupOf } from '../../src/hosting/linux/websites/provisioning.ts';
import { connectHost } from '../../src/hosting/remote/client.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import { isLong, onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

let machine: TestMachine;
/** Started again by the first test. */
let running: RunningMachine;
beforeAll(async () => {
  machine = await createPreparedMachine();
});
afterAll(() => machine?.remove());

const layout = () => linuxLayout(machine.folder, machine.runFolder);
const users = () => createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids });
const cgroups = () => createCgroups({ instance: machine.instance, log: silent });

const home = ({ primaryHostname }: InstallState) => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  // Bypasses the page cache, which needs no PHP.
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, `http://${primaryHostname}/`, {
    cookie: 'wordpress_logged_in_test=1',
  });
};

async function recordOf(name: string): Promise<InstallRef> {
  const all = await createRecords({ folder: layout().records, log: silent }).all();
  const found = all.find(({ state }) => state.name === name);
  if (found === undefined) throw new Error(`no website ${name}`);
  return { id: found.state.id, name };
}

/** Answers as a control plane does, until the test ends. */
function answerQuestions(): void {
  const remote = connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });
  remote.answer(
    { backupPassword: async () => 'of the test', sshLogin: async () => null, sshRelay: async () => null },
    () => {},
  );
  onTestFinished(() => remote.close());
}

async function sql(statement: string): Promise<void> {
  await runCommand('mariadb', ['--no-defaults', '--socket', layout().mariadbSocket, '--execute', statement]);
}

test('after a restart of the machine and the loss of users, limits, rights and the firewall, websites are served, with the ids of their files', async () => {
  const installs = ['losing-one', 'losing-two'].map(plainState);
  const first = await machine.start();
  for (const install of installs) await first.host.apply(install);
  const uids = installs.map(async ({ id }) => (await users().find(id))?.uid);
  const before = await Promise.all(uids);
  for (const { name } of installs) await sql(`DROP USER '${name}'@localhost`);
  await first.stop();
  for (const { id } of installs) await users().remove(id);
  await rm(machine.runFolder, { recursive: true });
  for (const name of [...(await cgroups().list()), 'none']) await cgroups().remove(name);
  await runCommand('nft', ['delete', 'table', 'inet', `homeport_${machine.instance}`]);

  running = await machine.start();
  for (const [index, install] of installs.entries()) {
    const page = await home(install);
    expect(page.status, install.name).toBe(200);
    expect(page.headers['x-cache']).toBe('BYPASS');
    expect(page.body).toContain('/wp-content/');
    expect((await users().find(install.id))?.uid).toBe(before[index]);
    expect((await stat(layout().htdocsOf(install.id))).uid).toBe(before[index]);
    expect(await cgroups().list()).toContain(cgroupOf(install.id));
  }
  expect(await running.host.inspect(installs, false)).toEqual([]);
  if (!isLong) return;
  // Another new website needs a place below the run folder too.
  const other = plainState('after-loss');
  await running.host.apply(other);
  expect((await home(other)).status).toBe(200);
});

onlyInLong(test)(
  'a user id taken by another user is not shared, and the other websites are served',
  async () => {
    const { host } = running;
    const [robbed, other] = ['losing-four', 'losing-five'].map(plainState);
    if (!robbed || !other) throw new Error('two installs');
    await host.apply(robbed);
    await host.apply(other);
    const uid = (await users().find(robbed.id))?.uid;
    await users().remove(robbed.id);
    const thief = crypto.randomUUID();
    await users().ensure({ installId: thief, name: 'thief', home: '/nonexistent', shell: '/bin/sh', uid });

    await expect(host.apply({ ...robbed, offload: null })).rejects.toThrow(/belongs to another user/);
    expect((await home(other)).status).toBe(200);
    const record = await createRecords({ folder: layout().records, log: silent }).read(robbed.id);
    expect(record?.placement.uid).toBe(uid);
    await users().remove(thief);
    await host.apply(robbed);
    expect((await home(robbed)).status).toBe(200);
  },
);

test('a machine without a website that was made before makes no empty one', async () => {
  const { host } = running;
  const install = { ...plainState('losing-all'), isMade: true };
  await expect(host.apply(install)).rejects.toThrow(/losing-all is missing on its machine/);
  expect(await users().find(install.id)).toBeNull();
  expect(existsSync(layout().homeOf(install.id))).toBe(false);
  expect((await host.heldInstalls(null)).installs.filter(({ id }) => id === install.id)).toEqual([]);
});

test('a website that is made for a restore is closed until then, also after a restart', async () => {
  const install = plainState('losing-one');
  const kept = await recordOf('losing-one');
  const backup = crypto.randomUUID();
  answerQuestions();
  await running.host.snapshot(kept, backup);
  await running.host.remove(kept, { keepBackups: true });
  const state = { ...install, id: kept.id, isMade: true };
  await running.host.makeForRestore(state);
  const lost = async () =>
    (await running.host.heldInstalls(null)).installs.find(({ id }) => id === kept.id)?.lost;
  expect(await lost()).toEqual(['The backup of the website is not restored yet.']);
  expect((await home(state)).status).toBe(503);
  expect(await running.host.runWpCli(kept, ['option', 'list'])).toEqual({
    ...{ refused: 'website', reason: 'The backup of the website is not restored yet.' },
  });
  await running.stop();
  running = await machine.start();
  answerQuestions();
  // Neither do changes open it.
  await running.host.apply(state);
  await running.host.makeForRestore(state);
  expect((await home(state)).status).toBe(503);
  // Else a backup of the empty website would be its newest one.
  await expect(running.host.snapshot(kept, crypto.randomUUID())).rejects.toThrow('not restored yet');
  await running.host.restore(kept, backup, { parts: { files: true, database: 'none' } });
  expect(await lost()).toEqual(['The backup of the website is not restored yet.']);
  await running.host.restore(kept, backup);
  expect(await lost()).toBeUndefined();
  const page = await home(state);
  expect(page.status).toBe(200);
  expect(page.body).toContain('/wp-content/');
  const other = await recordOf('losing-two');
  expect(await running.host.inspect([state, other], false)).toEqual([]);

  // What was set aside is filled, too. Without any backup, the operator opens it as it is.
  await running.host.retire(kept);
  await running.host.makeForRestore(state);
  expect((await home(state)).status).toBe(503);
  await running.host.apply({ ...state, isMade: false });
  expect((await home(state)).status).toBe(200);
  expect(await lost()).toBeUndefined();
  await running.host.snapshot(kept, crypto.randomUUID());
});

test('a website that lost its record is not provisioned over its remains', async () => {
  const { host } = running;
  const install = plainState('losing-six');
  await host.apply(install);
  const record = layout().recordOf(install.id);
  await rename(record, `${record}.lost`);
  await expect(host.apply(install)).rejects.toThrow(/but no record/);
  await rename(`${record}.lost`, record);
  await host.apply(install);
  expect((await home(install)).status).toBe(200);

  const { database } =
    (await createRecords({ folder: layout().records, log: silent }).read(install.id))?.placement ?? {};
  await sql(`DROP DATABASE ${database}`);
  await host.apply(install);
  // WordPress's installer would be open to any visitor.
  expect((await home(install)).status).toBe(503);
});
