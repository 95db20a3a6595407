import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { withFileLock } from '../../src/hosting/linux/isolation/file-lock.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { tablePaths } from '../../src/hosting/linux/nginx/edge-options.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import { cases, isLong, onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

let machine: TestMachine;
let running: RunningMachine;
let install: InstallState;

beforeAll(async () => {
  machine = await createPreparedMachine();
  running = await machine.start();
  install = plainState('drifting');
  await running.host.apply(install);
});
afterAll(() => machine?.remove());
// A repair ends with such an inspection, too.
if (isLong) {
  beforeEach(async () => {
    expect(await running.host.inspect([install], false)).toEqual([]);
  });
}

const unixUsers = () => createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids });
const layout = () => linuxLayout(machine.folder, machine.runFolder);
const sql = (statement: string) =>
  runCommand('mariadb', ['--no-defaults', '--socket', layout().mariadbSocket, '--execute', statement]);

/** Expects the fault, its repair, and no fault afterwards. */
async function expectRepaired(thing: string | RegExp, message: RegExp): Promise<void> {
  const found = await running.host.inspect([install], false);
  expect(found).toContainEqual({
    thing: expect.stringMatching(thing),
    message: expect.stringMatching(message),
    mended: null,
    remedy: '"homeport doctor --host --repair" repairs it.',
  });
  const repaired = await running.host.inspect([install], true);
  expect(repaired.map((difference) => difference.mended)).toEqual(repaired.map(() => true));
  expect(await running.host.inspect([install], false)).toEqual([]);
}

/** Status of the home page, bypassing the page cache. */
async function pageStatus(hostname: string): Promise<number> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const address = `http://${hostname}/?${crypto.randomUUID()}`;
  return (await visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address)).status;
}

async function databaseName(): Promise<string> {
  const record = await readFile(layout().recordOf(install.id), 'utf8');
  return /hp_[0-9a-f]+/.exec(record)?.[0] ?? 'not found';
}

const ACCOUNTS = '/var/lib/extrausers';

/** Removes the line of a name from a file that all hosts of this machine share. */
const loseLine = (file: string, name: string) =>
  withFileLock(join(ACCOUNTS, '.homeport.lock'), async () => {
    const lines = (await readFile(join(ACCOUNTS, file), 'utf8')).split('\n');
    await writeFile(join(ACCOUNTS, file), lines.filter((line) => !line.startsWith(`${name}:`)).join('\n'));
  });

const account = () => ({
  installId: install.id,
  name: install.name,
  home: layout().homeOf(install.id),
  shell: '/bin/sh',
});

/** Edits the record of the install while `work` runs. */
async function withRecord(bend: (record: string) => string, work: () => Promise<void>): Promise<void> {
  const file = layout().recordOf(install.id);
  const before = await readFile(file, 'utf8');
  await writeFile(file, bend(before));
  await work().finally(() => writeFile(file, before));
}

test('a removed Unix user is created again, with the id of its files', async () => {
  const users = unixUsers();
  const before = await users.find(install.id);
  const stray = crypto.randomUUID();
  await users.ensure({ ...account(), installId: stray, name: 'later', home: layout().homeOf(stray) });
  await users.remove(install.id);
  await expectRepaired(/unix user/, /user drifting is missing|belongs to no install/);
  expect(await users.find(install.id)).toEqual(before);
});

test.each(
  cases<[string, RegExp]>(
    [],
    [
      ['passwd', /user drifting is missing/],
      ['group', /group or the password line of drifting/],
      ['shadow', /group or the password line of drifting/],
    ],
  ),
)('a lost line in %s is written again', async (file, message) => {
  const before = await unixUsers().find(install.id);
  await loseLine(file, 'drifting');
  await expectRepaired(/unix user/, message);
  expect(await unixUsers().find(install.id)).toEqual(before);
  expect(await readFile(join(ACCOUNTS, file), 'utf8')).toContain('drifting:');
});

onlyInLong(test)('a group without a user is removed', async () => {
  const users = unixUsers();
  await users.ensure({ installId: crypto.randomUUID(), name: 'left', home: '/srv/left', shell: '/bin/sh' });
  await loseLine('passwd', 'left');
  await expectRepaired(/unix group left/, /belongs to no install/);
  expect(await readFile(join(ACCOUNTS, 'shadow'), 'utf8')).not.toContain('left:');
});

onlyInLong(test)(
  'a Unix user with another id than its files is reported, and gets no access to them',
  async () => {
    const users = unixUsers();
    const before = await users.find(install.id);
    await users.remove(install.id);
    const { uid } = await users.ensure({ ...account(), uid: machine.config.hostUids.first + 50 });
    const found = await running.host.inspect([install], true);
    expect(found).toEqual([
      expect.objectContaining({
        thing: 'install drifting: unix user',
        message: `Its user has the ids ${uid}:${uid}, but its files belong to ${before?.uid}:${before?.gid}.`,
        mended: false,
      }),
    ]);
    expect((await stat(layout().htdocsOf(install.id))).uid).toBe(before?.uid);
    await users.remove(install.id);
    await users.ensure({ ...account(), uid: before?.uid });
  },
);

onlyInLong(test)('a folder readable by others is closed', async () => {
  await chmod(layout().privateOf(install.id), 0o777);
  await expectRepaired(/folders/, /private/);
});

onlyInLong(test)('a row of the edge edited by hand is rewritten', async () => {
  await writeFile(join(tablePaths(layout()).installs, `${install.id}.json`), '{}\n');
  await expectRepaired(/web server/, /./);
});

onlyInLong(test)('a website served by an old state is served by its record', async () => {
  const more = '{"name":"more.sites.test","redirectTo":null,"forceHttps":false,"certificate":null}';
  await withRecord(
    (record) => record.replace('"hostnames":[', `"hostnames":[${more},`),
    async () => {
      await expectRepaired(/install drifting: web server/, /earlier state/);
      expect(await pageStatus('more.sites.test')).toBe(200);
    },
  );
  await expectRepaired(/install drifting: web server/, /earlier state/);
  expect(await pageStatus('more.sites.test')).toBe(404);
});

onlyInLong(test)('the firewall is restored', async () => {
  await runCommand('nft', ['delete', 'table', 'inet', `homeport_${machine.instance}`]);
  await expectRepaired(/firewall/, /./);
});

test('resources without an install are removed, but data without an owner is kept', async () => {
  const stray = crypto.randomUUID();
  const users = unixUsers();
  await users.ensure({ installId: stray, name: 'stray', home: layout().homeOf(stray), shell: '/bin/sh' });
  await expectRepaired(/unix user stray/, /belongs to no install/);

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

onlyInLong(test)('an install unknown to the control plane and a missing one are reported', async () => {
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
      remedy: expect.stringMatching(/install apply lost/),
    }),
  ]);
});

onlyInLong(test)('a lost database user and lost rights are restored', async () => {
  await sql('DROP USER drifting@localhost');
  await expectRepaired(/database/, /The user drifting lacks rights/);
  const granted = (await databaseName()).replace('_', '\\_');
  await sql(`REVOKE DROP ON \`${granted}\`.* FROM drifting@localhost`);
  await expectRepaired(/database/, /The user drifting lacks rights/);
});

onlyInLong(test)('lost limits are set again', async () => {
  const cgroups = createCgroups({ instance: machine.instance, log: silent });
  const group = `install-${install.id}`;
  // A machine that allows no limits cannot lose any.
  if ((await cgroups.list()).length === 0) return;
  await cgroups.remove(group);
  await expectRepaired(/limits/, /install-.* is missing/);
  await cgroups.set(group, null);
  await expectRepaired(/limits/, /install-.* has .* instead of/);
});

onlyInLong(test)('a wrong address in homeport.php is corrected', async () => {
  const file = join(layout().homeOf(install.id), 'homeport.php');
  const before = await readFile(file, 'utf8');
  await writeFile(file, before.replace('drifting.sites.test', 'elsewhere.sites.test'));
  await expectRepaired(/files/, /homeport\.php has the wrong values/);
  expect(await readFile(file, 'utf8')).toBe(before);
});

onlyInLong(test)('an install with an unreadable record is reported, and stays as it is', async () => {
  const traces = async () => [await unixUsers().list(), await pageStatus(install.primaryHostname)];
  const before = await traces();
  await withRecord(
    (record) => record.slice(0, -1),
    async () =>
      expect(await running.host.inspect([install], true)).toEqual([
        expect.objectContaining({
          thing: 'install drifting',
          message: expect.stringMatching(/record cannot be read/),
          mended: false,
        }),
      ]),
  );
  expect(await traces()).toEqual(before);
});

onlyInLong(test)('an install whose PHP version is gone is reported', async () => {
  await withRecord(
    (record) => record.replace(/"phpVersion":"[^"]*"/, '"phpVersion":"7.0"'),
    async () =>
      expect(await running.host.inspect([install], true)).toEqual([
        expect.objectContaining({
          thing: expect.stringMatching(/^install drifting: php/),
          mended: false,
          remedy: expect.stringMatching(/PHP 7\.0/),
        }),
      ]),
  );
});

onlyInLong(test)(
  'an install that failed to start is reported, and starts once the obstacle is gone',
  async () => {
    await running.stop();
    const folder = join(layout().homeOf(install.id), '.restore');
    await mkdir(folder);
    await writeFile(join(folder, 'state.json'), '{}');
    running = await machine.start();
    expect(await running.host.inspect([install], true)).toContainEqual(
      expect.objectContaining({
        thing: 'the website drifting',
        message: expect.stringMatching(/the host keeps trying: .* The repair failed/s),
        mended: false,
      }),
    );
    await rm(folder, { recursive: true });
    // The host repairs it without help.
    await expect.poll(() => running.host.inspect([install], false), { timeout: 100_000 }).toEqual([]);
  },
);

onlyInLong(test)('everything else is checked without a database server', async () => {
  const settings = join(layout().mariadb, 'my.cnf');
  const before = await readFile(settings, 'utf8');
  const { stdout } = await runCommand('pgrep', ['-f', `^/usr/sbin/mariadbd .*${settings}`]);
  await writeFile(settings, `${before}\nno-such-setting = 1\n`);
  process.kill(Number(stdout.trim()), 'SIGKILL');
  await chmod(layout().privateOf(install.id), 0o777);
  await expect
    .poll(async () => (await running.host.inspect([install], false)).map(({ thing }) => thing), {
      timeout: 60_000,
    })
    .toEqual(['mariadb', 'databases', 'install drifting: folders']);
  await writeFile(settings, before);
  await expect.poll(() => running.host.inspect([install], true), { timeout: 60_000 }).toEqual([]);
});
