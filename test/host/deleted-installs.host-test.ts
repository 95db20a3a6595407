import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expireDeleted } from '../../src/features/provisioning/deleted-installs/jobs.ts';
import { PLACE_MARK } from '../../src/hosting/linux/backups/place-mark.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { DAY_MS } from '../../src/lib/durations.ts';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';
import { onlyInLong } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

const run = promisify(execFile);

let machine: TestMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
let id: string;
let name: string;

beforeAll(async () => {
  machine = await createPreparedMachine();
  await machine.start();
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, environment: machine.environment });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
});

const create = (name: string) => owner.client.post('/installs', { name, account_id: accountId });
const statusOf = async (id: string) => text((await owner.client.get(`/installs/${id}`)).body, 'status');

function look(address: string) {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address);
}

async function sql(id: string, statement: string): Promise<string> {
  const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
  const database = `hp_${id.replaceAll('-', '')}`;
  const { stdout } = await run('mariadb', ['-N', '-B', `--socket=${socket}`, database, '-e', statement]);
  return stdout.trimEnd();
}

async function remove(id: string): Promise<void> {
  expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
  await homeport.idle();
}

const layout = () => linuxLayout(machine.folder, machine.runFolder);

async function restore(): Promise<void> {
  expect((await owner.client.post(`/deleted_installs/${id}/restore`)).status).toBe(202);
  await homeport.idle();
  expect(await statusOf(id)).toBe('active');
  expect((await look(`http://${name}.sites.test/kept.txt`)).body).toBe('kept');
  expect((await look(`http://${name}.sites.test/`)).body).toContain('Kept shop');
}

test('a deleted website comes back with its files and its database', async () => {
  name = installName();
  id = text((await create(name)).body, 'id');
  await homeport.idle();
  await writeFile(`${machine.folder}/installs/${id}/htdocs/kept.txt`, 'kept');
  await sql(id, "UPDATE wp_options SET option_value = 'Kept shop' WHERE option_name = 'blogname'");
  await remove(id);
  expect((await look(`http://${name}.sites.test/kept.txt`)).status).toBe(404);
  expect(await readdir(layout().installs)).not.toContain(id);
  expect(await readdir(layout().backups)).toContain(id);
  const { hosts } = homeport.services;
  expect(await hosts.list()).toHaveLength(1);

  await restore();
});

onlyInLong(test)('a deleted website comes back after its name was used again, with its backups', async () => {
  await remove(id);
  const again = text((await create(name)).body, 'id');
  await homeport.idle();
  expect(await statusOf(again)).toBe('active');
  await remove(again);
  await restore();

  clock.advance(14 * DAY_MS);
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, expireDeleted, { payload: {}, lane: null }),
  );
  await homeport.idle();
  // The restored install keeps its backups; those of the other are gone.
  expect((await readdir(layout().backups)).sort()).toEqual([id, PLACE_MARK].sort());
});
