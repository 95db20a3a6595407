import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { checkKnownHosts } from '../../../cli/doctor/known-hosts.ts';
import { eventually } from '../../../hosting/policy/edge.fixture.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../../hosting/remote/identity.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { Conflict } from '../../../lib/failures.ts';
import { platformIdOf } from '../../hosts/edge-routes-store.ts';
import { environment, jobsOf, row, startFleet } from '../../hosts/fleet.fixture.ts';
import type { Fleet } from '../../hosts/fleet.ts';
import { hostQuestions } from '../host-questions.ts';
import { createReconciling } from '../reconciling.ts';
import { rebuildInstall } from './jobs.ts';
import { findRebuild, insertRebuild } from './rebuild-store.ts';

const forwarding = (port: number) => ({ host: '127.0.0.1', port, identity: null });

let first: ServedMachine;
let second: ServedMachine;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let fleet: Fleet;
let watching: { stop(): Promise<void> };
let install: { id: string; name: string };

beforeAll(async () => {
  first = await serveMachine({ forwarding: forwarding(1001) });
  homeport = await startTestHomeport({ environment: environment(first.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  const { hosts } = homeport.services;
  const { reader } = homeport.platform.database;
  await eventually(async () => (await platformIdOf(reader)) !== undefined);
  const platform = (await platformIdOf(reader)) ?? null;
  first.description.platform = platform;
  second = await serveMachine({ forwarding: forwarding(1002) });
  const port = await freePort();
  const { identity } = await hosts.add('web2', `https://127.0.0.1:${port}`);
  second.description.id = parseIdentity(identity).hostId;
  second.description.platform = platform;
  await second.listenTls(parseIdentity(identity), port);
  fleet = startFleet(homeport, 20);
  await fleet.start();
  watching = fleet.edges.start();
  await eventually(async () => first.edges.others.length === 1 && second.edges.others.length === 1);
  await accept(second);
  install = await homeport.install(owner, accountId);
  await second.write(install, 'index.html', 'on the second');
  await eventually(async () => first.edges.routes.has(install.id));
  await reconcile();
});
afterAll(async () => {
  await watching?.stop();
  await fleet?.stop();
  await homeport?.remove();
  await first?.close();
  await second?.close();
});

/** Places new installs on this machine. */
async function accept(machine: ServedMachine): Promise<void> {
  const { hosts } = homeport.services;
  for (const { name, id } of await hosts.list())
    await hosts.setAccepting(name, id === machine.description.id);
}

const visit = () => second.http(`${install.name}.localhost`, '/');
const reconcile = async () => {
  const { id } = second.description;
  const reconciling = createReconciling(homeport.platform);
  await reconciling.run(id, await fleet.machine(id));
  await reconciling.stop();
};

test('a host that is given up while it answers serves nothing, and keeps its data', async () => {
  const { lostHosts } = homeport.services;
  expect((await visit()).text).toBe('on the second');
  await expect(lostHosts.giveUp('web9')).rejects.toThrow('There is no host "web9"');
  expect(await lostHosts.giveUp('web2')).toBe(1);
  await expect(lostHosts.giveUp('web2')).rejects.toThrow('was given up at');
  await eventually(async () => (await visit()).status === 404);
  expect(readFileSync(second.file(install, 'index.html'), 'utf8')).toBe('on the second');
});

test('it gets no command, no answer and no install, and its operator sees why', async () => {
  const { hosts } = homeport.services;
  const { id } = second.description;
  await expect(fleet.machine(id)).rejects.toThrow('The host web2 was given up as lost');
  await expect(hosts.target('web2')).rejects.toThrow('"homeport host found web2" takes it back');
  const questions = hostQuestions(homeport.platform, id);
  await expect(questions.backupPassword(install.id)).rejects.toThrow('given up');
  expect(await questions.sshLogin(install.name, 'SHA256:any')).toBeNull();
  await eventually(async () => !fleet.met().includes(id));
  expect(await hosts.find('web2')).toMatchObject({
    lost_at: expect.any(String),
    reason: 'It was given up as lost.',
  });
  expect(
    (await checkKnownHosts(homeport.platform.database)).find(({ check }) => check === 'host web2'),
  ).toMatchObject({
    state: 'problem',
    message: expect.stringContaining('given up as lost'),
  });
  // Although it is the only one that accepts installs, and answers.
  const made = await owner.client.post('/installs', { name: 'elsewhere', account_id: accountId });
  await homeport.idle();
  expect(made.body).toMatchObject({ status: 'pending' });
  expect(second.versions.size).toBe(1);
});

test('the edges of the others neither forward to it nor accept it', async () => {
  await eventually(async () => first.edges.others.length === 0 && second.edges.others.length === 0);
  expect(first.edges.routes.has(install.id)).toBe(false);
});

test('its jobs wait', async () => {
  await owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'page' });
  await homeport.idle();
  expect((await jobsOf(homeport, install.id)).at(-1)).toMatchObject({ state: 'queued' });
});

test('the operator takes it back as it was', async () => {
  const { lostHosts } = homeport.services;
  await lostHosts.takeBack('web2');
  await expect(lostHosts.takeBack('web2')).rejects.toThrow('was not given up');
  await eventually(async () => fleet.met().includes(second.description.id));
  await reconcile();
  await eventually(async () => {
    await homeport.idle();
    return (await visit()).status === 200;
  });
  expect((await visit()).text).toBe('on the second');
  await eventually(async () => first.edges.others.length === 1);
  expect((await homeport.services.hosts.find('web2')).lost_at).toBeNull();
});

test('what is on another host meanwhile stays set aside when it is taken back', async () => {
  const { lostHosts } = homeport.services;
  await lostHosts.giveUp('web2');
  await eventually(async () => (await visit()).status === 404);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ host_id: first.description.id })
      .where('id', '=', install.id)
      .execute(),
  );
  await lostHosts.takeBack('web2');
  await eventually(async () => fleet.met().includes(second.description.id));
  await reconcile();
  await homeport.idle();
  expect((await visit()).status).toBe(404);
  expect(readFileSync(second.file(install, 'index.html'), 'utf8')).toBe('on the second');
});

test('its installs are rebuilt on another host from their newest backups, each apart from the others', async () => {
  const { deletedInstalls, lostHosts, rebuilds, hosts } = homeport.services;
  await accept(second);
  const kept = await homeport.install(owner, accountId);
  const bare = await homeport.install(owner, accountId);
  await second.write(kept, 'index.html', 'in the backup');
  const made = await owner.client.post(`/installs/${kept.id}/backups`, {
    description: 'one',
    notification_emails: [],
  });
  await homeport.idle();
  await second.write(kept, 'index.html', 'later');
  await owner.client.post(`/installs/${kept.id}/domains`, { name: 'later.example' });
  const deleted = await homeport.install(owner, accountId);
  await owner.client.delete(`/installs/${deleted.id}`);
  await homeport.idle();

  await expect(rebuilds.request('web2', [])).rejects.toThrow('"homeport host lost web2"');
  await lostHosts.giveUp('web2');
  // It would wait for the machine, or become an empty website elsewhere.
  await expect(deletedInstalls.restoreByName(deleted.name, null)).rejects.toThrow(Conflict);
  await accept(first);
  const firstName = (await hosts.list()).find(({ id }) => id === first.description.id)?.name ?? '';
  await expect(rebuilds.request('web2', ['web2'])).rejects.toThrow('given up');
  // As if both had one place for their backups.
  cpSync(join(second.folder, 'snapshots', kept.id), join(first.folder, 'snapshots', kept.id), {
    recursive: true,
  });
  await rebuilds.request('web2', [firstName]);
  await homeport.idle();
  const found = async () =>
    new Map((await rebuilds.report('web2')).map((rebuild) => [rebuild.name, rebuild]));
  const report = await found();
  expect(report.size).toBe(2);
  expect(report.get(kept.name)).toMatchObject({
    ...{ step: 'rebuilt', host: firstName, reason: null, backupId: text(made.body, 'id') },
    ...{ minutesLost: 0, changesLost: ['domain.create'] },
  });
  expect(report.get(bare.name)).toMatchObject({
    ...{ step: 'failed', host: null, backupId: null },
    reason: `No backup of it is where ${firstName} has its backups. They were on the lost machine only, or in another place.`,
  });
  expect((await first.http(`${kept.name}.localhost`, '/')).text).toBe('in the backup');
  const rebuilt = { action: 'install.rebuild', details: { backup_at: report.get(kept.name)?.backupAt } };
  const activity = await owner.client.get(`/accounts/${accountId}/activity?install_id=${kept.id}`);
  expect(activity.body).toMatchObject({
    results: expect.arrayContaining([expect.objectContaining(rebuilt)]),
  });
  expect((await first.http('later.example', '/')).status).not.toBe(404);
  expect((await owner.client.get(`/installs/${kept.id}`)).body).toMatchObject({ lost_data: null });
  expect(await row(homeport, bare.id)).toMatchObject({ host_id: second.description.id });

  // What failed is tried again, and nothing else.
  await rebuilds.request('web2', []);
  await homeport.idle();
  expect((await found()).get(kept.name)?.jobId).toBe(report.get(kept.name)?.jobId);
  expect((await found()).get(bare.name)?.jobId).not.toBe(report.get(bare.name)?.jobId);

  // The lost host returns.
  await lostHosts.takeBack('web2');
  await eventually(async () => fleet.met().includes(second.description.id));
  await reconcile();
  await homeport.idle();
  expect((await second.http(`${bare.name}.localhost`, '/')).status).toBe(200);
  expect((await second.http(`${kept.name}.localhost`, '/')).status).toBe(404);
  expect(readFileSync(second.file(kept, 'index.html'), 'utf8')).toBe('later');
});

test('a rebuild on a host that is lost too ends, so that the install can be rebuilt as one of that host', async () => {
  const { database, random, queue } = homeport.platform;
  const { lostHosts, rebuilds } = homeport.services;
  await accept(second);
  const made = await homeport.install(owner, accountId);
  const id = random.uuid();
  const at = new Date().toISOString();
  const jobId = await database.write(async (transaction) => {
    const job_id = await queue.enqueue(transaction, rebuildInstall, {
      ...{ payload: { rebuild_id: id }, lane: made.id },
      delayMs: HOUR_MS,
    });
    await insertRebuild(transaction.queries, {
      ...{ id, install_id: made.id, install_name: made.name, from_host: random.uuid(), job_id, lost_at: at },
      ...{ to_host: second.description.id, step: 'restoring', requested_at: at },
      ...{ backup_id: random.uuid(), backup_at: at, reason: null, finished_at: null },
    });
    return job_id;
  });
  await lostHosts.giveUp('web2');
  expect(await findRebuild(database.reader, id)).toMatchObject({
    step: 'failed',
    reason: 'The host web2 was given up as lost.',
  });
  expect((await queue.find(jobId))?.state).toBe('cancelled');
  await rebuilds.request('web2', []);
  expect((await rebuilds.report('web2')).map(({ name }) => name)).toContain(made.name);
});
