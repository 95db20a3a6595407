import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { asUnchanged, LostBackupError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { methodsFor, routedTo } from '../../../hosting/contract/host-methods.ts';
import { Postponed } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { setHost } from '../../hosts/placement-store.ts';
import { noteAnswer } from '../../hosts/store.ts';
import { insertMove } from '../moves/store.ts';
import { findRebuild, insertRebuild } from './rebuild-store.ts';
import { runRebuild } from './run-rebuild.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let lost: string;
let other: string;

/** What the other machine was asked for, in order. */
let calls: string[];
let restoreIds: (string | undefined)[];
/** Whether the other machine is of this version. */
let recordsRestores: boolean;
let damaged: string[];
let held: string[];
/** Whether no other worker can have the job. */
let isOwn: boolean;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  const { hosts, lostHosts } = homeport.services;
  lost = (await hosts.add('web1', 'https://10.0.0.1:8470')).host.id;
  other = (await hosts.add('web2', 'https://10.0.0.2:8470')).host.id;
  await lostHosts.giveUp('web1');
});
afterAll(() => homeport?.remove());

beforeEach(() => {
  [calls, restoreIds, held, isOwn, recordsRestores, damaged] = [[], [], [], true, true, []];
});

const description = () => ({
  ...{ id: other, capacity: 1, phpVersions: [], wordpressVersions: [], reservedNames: [] },
  ports: { http: 80, https: 443, ssh: 22 },
});

const refused = async () => {
  throw new Error('no such command in this test');
};
const machine: HostMachine = {
  ...methodsFor(routedTo('host'), () => refused),
  ...methodsFor(routedTo('website'), () => refused),
  ...methodsFor(routedTo('keeper'), () => refused),
  ...methodsFor(routedTo('own'), () => refused),
  start: refused,
  stop: refused,
  heldBackups: async () => held,
  async makeForRestore() {
    calls.push('make');
  },
  describe: async () => ({ ...description(), ...(recordsRestores ? { recordsRestores } : {}) }),
  async restore(_install, backupId, { restoreId } = {}) {
    if (damaged.includes(backupId)) {
      const lost = new LostBackupError(`the backup ${backupId} is damaged`);
      throw asUnchanged(lost);
    }
    calls.push('restore');
    restoreIds.push(restoreId);
    return { bytes: 1, files: 1, sha256: '0'.repeat(64) };
  },
  async remove(_install, options) {
    calls.push(options?.keepBackups ? 'remove, keeping backups' : 'remove');
  },
};

/** An install of the lost host with backups that the other one has, and room for only this one there. */
async function lostInstall(backups = ['one']) {
  const install = await homeport.install(owner, accountId);
  for (const description of backups) {
    const wanted = { description, notification_emails: [] };
    const { body } = await owner.client.post(`/installs/${install.id}/backups`, wanted);
    await homeport.idle();
    held.unshift(text(body, 'id'));
  }
  const { database, clock } = homeport.platform;
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ host_id: null }).where('host_id', '=', other).execute();
    await setHost(queries, install.id, lost);
    await noteAnswer(queries, { description: description(), at: timestamp(clock) });
  });
  return install;
}

async function newRebuild(install: { id: string; name: string }, to_host: string | null = null) {
  const { database, clock, random } = homeport.platform;
  const id = random.uuid();
  const at = timestamp(clock);
  await database.write(({ queries }) =>
    insertRebuild(queries, {
      ...{ id, install_id: install.id, install_name: install.name, from_host: lost, to_host },
      ...{ step: 'placing', job_id: random.uuid(), lost_at: at, requested_at: at },
      ...{ backup_id: null, backup_at: null, reason: null, finished_at: null },
    }),
  );
  return id;
}

async function rebuild(id: string): Promise<void> {
  const { platform } = homeport;
  const found = await findRebuild(platform.database.reader, id);
  if (found === undefined) throw new Error('no rebuild');
  const fleet = { machine: async () => machine, announce: () => {} };
  await runRebuild(platform, fleet, found, {
    ...{ hosts: undefined, signal: new AbortController().signal, progress: () => {} },
    isHeld: () => isOwn,
  });
}

it('chooses a host again after a kill, although only that place is left there', async () => {
  await rebuild(await newRebuild(await lostInstall(), other));
  expect(calls).toEqual(['make', 'restore']);
});

it('removes what an unfinished move had copied to the new host, and keeps its backups', async () => {
  const install = await lostInstall();
  const { database, clock, random } = homeport.platform;
  await database.write(({ queries }) =>
    insertMove(queries, {
      ...{ id: random.uuid(), install_id: install.id, install_name: install.name, step: 'failed' },
      ...{ from_host: lost, to_host: other, job_id: random.uuid(), requested_at: timestamp(clock) },
    }),
  );
  const id = await newRebuild(install);
  await rebuild(id);
  expect(calls).toEqual(['remove, keeping backups', 'make', 'restore']);
  // It has the website now, and visitors may have changed it: the host knows that it is the same restore.
  await rebuild(id);
  expect(calls.slice(3)).toEqual(['make', 'restore']);
  expect(restoreIds).toEqual([id, id]);
  recordsRestores = false;
  await rebuild(id);
  expect(restoreIds[2]).toBeUndefined();
});

it('restores nothing after a standstill, in which another worker may have opened the website', async () => {
  const id = await newRebuild(await lostInstall());
  isOwn = false;
  await expect(rebuild(id)).rejects.toThrow(Postponed);
  expect(calls).toEqual([]);
});

it('restores an older backup if the newest is damaged, and says so', async () => {
  const install = await lostInstall(['older', 'newer']);
  const [newer = '', older = ''] = held;
  damaged = [newer];
  const id = await newRebuild(install);
  await rebuild(id);
  const { reader } = homeport.platform.database;
  expect(await findRebuild(reader, id)).toMatchObject({
    ...{ backup_id: older, step: 'restoring' },
    reason: expect.stringMatching(/^The newest backup is damaged or gone, so an older one was restored: /),
  });
  damaged = [older, newer];
  await expect(rebuild(id)).rejects.toThrow(`the backup ${older} is damaged`);
});
