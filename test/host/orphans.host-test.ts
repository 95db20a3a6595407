import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { allOrphans } from '../../src/features/provisioning/orphan-store.ts';
import { findInstallStatus } from '../../src/features/websites/installs/website-store.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { call } from '../cli/call-homeport.ts';
import { environmentFor } from '../cli/run-homeport.ts';
import { copyDatabase, type DatabaseCopy, type DatabasePlace, migratedPlace } from '../database.ts';
import { visit } from '../edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

let machine: TestMachine;
let running: RunningMachine;
let place: DatabasePlace;
let older: DatabaseCopy;
let newer: DatabaseCopy;
let accountId: string;
let owner: Person;
let kept: { id: string; name: string };
let later: { id: string; name: string };

const start = () =>
  startTestHomeport({
    place,
    environment: {
      ...machine.environment,
      HOMEPORT_EDGE_HTTP: `127.0.0.1:${machine.config.edgeHttp.port}`,
      HOMEPORT_EDGE_HTTPS: `127.0.0.1:${machine.config.edgeHttps.port}`,
      HOMEPORT_SSH_LISTEN: `127.0.0.1:${machine.config.sshListen.port}`,
    },
  });
/** Bypasses the page cache. */
const statusOf = async (homeport: TestHomeport, name: string) =>
  (await visit(homeport, `http://${name}/?${crypto.randomUUID()}`)).status;
const eventually = (homeport: TestHomeport, name: string, status: number) =>
  expect.poll(() => statusOf(homeport, name), { timeout: 120_000, interval: 500 }).toBe(status);
const layout = () => linuxLayout(machine.folder, machine.runFolder);
const unixUser = () =>
  createUnixUsers({ instance: machine.instance, uids: machine.config.hostUids }).find(later.id);
async function processes(): Promise<string[]> {
  const { stdout } = await runCommand('ps', ['-eo', 'user:40,stat,args']);
  return stdout.split('\n').filter((line) => line.startsWith(`${later.name} `));
}
async function databases(): Promise<string> {
  const { stdout } = await runCommand('mariadb', [
    '--no-defaults',
    '--socket',
    layout().mariadbSocket,
    '--execute',
    'show databases',
  ]);
  return stdout;
}

beforeAll(async () => {
  machine = await createPreparedMachine();
  running = await machine.start();
  place = await migratedPlace();
  const first = await start();
  ({ accountId, owner } = await first.ownedAccount());
  kept = await first.install(owner, accountId);
  await first.remove();
  older = await copyDatabase(place);
  const second = await start();
  later = await second.install(owner, accountId);
  const client = second.clientOf(owner.credential);
  expect((await client.post(`/installs/${later.id}/domains`, { name: 'customer.example' })).status).toBe(201);
  await second.idle();
  expect(await statusOf(second, 'customer.example')).toBe(200);
  await second.remove();
  newer = await copyDatabase(place);
  await older.restore();
});
afterAll(async () => {
  await machine?.remove();
  await older?.remove();
  await newer?.remove();
  await place?.remove();
});

test('an install unknown to a restored database is set aside with its data', async () => {
  const homeport = await start();
  try {
    await eventually(homeport, 'customer.example', 404);
    expect(await statusOf(homeport, `${later.name}.sites.test`)).toBe(404);
    expect(await statusOf(homeport, `${kept.name}.sites.test`)).toBe(200);
    await expect
      .poll(() => allOrphans(homeport.platform.database.reader))
      .toMatchObject([{ id: later.id, name: later.name, is_served: false }]);
    // A killed process stays listed until its parent has noticed.
    await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
    expect(await unixUser()).toMatchObject({ name: later.name });
    expect(await databases()).toContain(later.id.replaceAll('-', ''));
    // A start of the host serves what has a record.
    expect([kept, later].map(({ id }) => existsSync(layout().recordOf(id)))).toEqual([true, false]);
  } finally {
    await homeport.remove();
  }
});

onlyInLong(test)('inspection reports it, and a repair does not remove it', async () => {
  const found = await running.host.inspect([kept], true);
  expect(found).toEqual([
    expect.objectContaining({
      thing: `install ${later.name}`,
      mended: false,
      remedy: expect.stringContaining(`homeport install discard ${later.id}`),
    }),
  ]);
  expect(await unixUser()).toMatchObject({ name: later.name });
});

onlyInLong(test)('a restarted host does not serve it', async () => {
  await running.stop();
  running = await machine.start();
  const homeport = await start();
  try {
    expect(await statusOf(homeport, 'customer.example')).toBe(404);
  } finally {
    await homeport.remove();
  }
});

onlyInLong(test)('a new install with its name fails at once and gets none of its data', async () => {
  const homeport = await start();
  try {
    const create = async () => {
      const { id } = await homeport.services.installs.create(operatorFor(owner.userId), {
        name: later.name,
        account_id: accountId,
      });
      await homeport.idle();
      return id;
    };
    const status = (id: string) => findInstallStatus(homeport.platform.database.reader, id);
    const refused = await create();
    expect(await status(refused)).toBe('failed');
    const client = homeport.clientOf(owner.credential);
    expect((await client.delete(`/installs/${refused}`)).status).toBe(204);
    await homeport.idle();
    expect(await databases()).toContain(later.id.replaceAll('-', ''));
  } finally {
    await homeport.remove();
  }
});

test('it is served again with a database that knows it', async () => {
  await newer.restore();
  const homeport = await start();
  try {
    await eventually(homeport, 'customer.example', 200);
    await homeport.idle();
    expect(await running.host.inspect([kept, later], false)).toEqual([]);
  } finally {
    await homeport.remove();
  }
  await older.restore();
});

onlyInLong(test)('the operator deletes it permanently', async () => {
  const homeport = await start();
  try {
    await eventually(homeport, 'customer.example', 404);
    await expect.poll(() => allOrphans(homeport.platform.database.reader)).toHaveLength(1);
    const environment = { ...(await environmentFor(place)), ...machine.environment };
    expect(await call(environment, 'install', 'discard', later.id, '--yes')).toMatchObject({ code: 0 });
    expect(await unixUser()).toBeNull();
    expect(await databases()).not.toContain(later.id.replaceAll('-', ''));
    expect(await running.host.inspect([kept], false)).toEqual([]);
  } finally {
    await homeport.remove();
  }
});
