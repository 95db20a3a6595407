import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import type { MoveStep } from '../../../database/tables/moves.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { methodsFor, routedTo } from '../../../hosting/contract/host-methods.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import { Postponed } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { hostQuestions } from '../host-questions.ts';
import { servingInventory } from '../inventory.fixture.ts';
import { reconcileHost } from '../reconciliation.ts';
import { runClearing } from './clear-move.ts';
import { runMove, snapshotsOf } from './run-move.ts';
import { changeMove, findMove, insertMove } from './store.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };
const hosts: Record<string, string> = {};

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  for (const name of ['web1', 'web2']) {
    hosts[name] = (await homeport.services.hosts.add(name, 'https://10.0.0.2:8470')).host.id;
  }
});
afterAll(() => homeport?.remove());

/** What the machines were asked for, in order. */
let calls: string[];
/** The names of commands that fail, with their errors. */
let failures: Map<string, Error>;
/** Called before each command. */
let before: (call: string) => Promise<void>;
/** The snapshots that a machine was asked to discard. */
let discarded: Set<string>;
/** Whether both machines have the repository in one place. */
let isShared: boolean;
/** What was written last to a repository. */
let shared: string;
/** Whether the machines have a version with moves. */
let movesWebsites: boolean;
/** Whether no other worker can have the job. */
let isOwn: boolean;
/** What is worse on the new machine. */
let worse: string | null;

beforeEach(async () => {
  install = await homeport.install(owner, accountId);
  [calls, failures, isShared, shared, isOwn, worse] = [[], new Map(), false, '', true, null];
  before = async () => {};
  discarded = new Set();
  movesWebsites = true;
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ host_id: host('web1') })
      .where('id', '=', install.id)
      .execute(),
  );
});

const host = (name: string): string => hosts[name] ?? '';

const WRITTEN = { bytes: 1, files: 1, sha256: '0'.repeat(64) };

/** A machine whose network and websites are this list of calls. */
function machine(name: string): HostMachine {
  const did = async (what: string) => {
    const call = `${name} ${what}`;
    await before(call);
    const failure = failures.get(call);
    if (failure !== undefined) throw failure;
    calls.push(call);
  };
  const refused = async () => {
    throw new Error('no such command in this test');
  };
  const unused = {
    ...methodsFor(routedTo('host'), () => refused),
    ...methodsFor(routedTo('website'), () => refused),
    ...methodsFor(routedTo('keeper'), () => refused),
    ...methodsFor(routedTo('own'), () => refused),
    start: refused,
    stop: refused,
  };
  const whole: HostMachine = {
    ...unused,
    describe: async () => ({
      ...{ id: host(name), capacity: 1, phpVersions: [], wordpressVersions: [], reservedNames: [] },
      ports: { http: 80, https: 443, ssh: 22 },
      movesWebsites,
    }),
    measureStorage: async () => ({ fileBytes: 1_000, database: null }),
    async apply(state) {
      await did(state.primaryHostname.endsWith('.invalid') ? 'prepare' : 'apply');
      return { phpVersion: null, wordpressVersion: null, stableIps: null };
    },
    holdWebsite: async (_install, seconds) => did(seconds === null ? 'hold' : 'hold for a while'),
    releaseWebsite: () => did('release'),
    handOver: () => did('hand over'),
    async snapshotBase() {
      await did('snapshot');
      return WRITTEN;
    },
    async snapshotChanges() {
      await did('snapshot changes');
      return WRITTEN;
    },
    stageSnapshot: () => did('stage'),
    async restoreChanges() {
      await did('restore changes');
      return WRITTEN;
    },
    discardSnapshot: async (_install, id) => void discarded.add(id),
    listRepository: async () => [],
    async readRepository() {
      if (!isShared) throw new PermanentHostError('no file');
      return Buffer.from(shared);
    },
    async writeRepository(_install, _name, { content }) {
      shared = Buffer.from(content, 'base64').toString();
    },
    trimRepository: async () => {},
    observeWebsite: async () => '{}',
    async compareWebsite() {
      await did('compare');
      return worse;
    },
    remove: (_install, options) => did(options?.keepBackups ? 'remove, keeping backups' : 'remove'),
  };
  return whole;
}

const machines = { web1: machine('web1'), web2: machine('web2') };
const fleet = {
  machine: async (id: string) => (id === host('web1') ? machines.web1 : machines.web2),
  forward: async () => {
    calls.push('web1 forwards');
  },
  announce: () => {},
};

async function newMove(step: MoveStep = 'copying'): Promise<string> {
  const { database, random, clock } = homeport.platform;
  const id = random.uuid();
  await database.write(({ queries }) =>
    insertMove(queries, {
      ...{ id, install_id: install.id, install_name: install.name, step },
      ...{ from_host: host('web1'), to_host: host('web2') },
      ...{ job_id: random.uuid(), requested_at: timestamp(clock) },
    }),
  );
  return id;
}

async function move(id: string): Promise<void> {
  const { platform } = homeport;
  const found = await findMove(platform.database.reader, id);
  if (!found) throw new Error('no move');
  const job = {
    ...{ signal: new AbortController().signal, progress: () => {}, log: platform.log },
    isHeld: () => isOwn,
  };
  await runMove(platform, fleet, found, job);
}

async function stateOf(id: string) {
  const { reader } = homeport.platform.database;
  const row = await reader
    .selectFrom('installs')
    .select('host_id')
    .where('id', '=', install.id)
    .executeTakeFirstOrThrow();
  return { step: (await findMove(reader, id))?.step, host: row.host_id === host('web1') ? 'web1' : 'web2' };
}

const last = (count: number) => calls.slice(-count);

it('copies twice, checks, hands over, and only then lets the new machine take changes', async () => {
  const id = await newMove();
  await move(id);
  expect(calls).toEqual([
    'web1 forwards',
    'web1 release',
    ...['web2 prepare', 'web2 hold'],
    ...['web1 snapshot', 'web2 stage'],
    ...['web1 hold for a while', 'web1 snapshot changes', 'web2 restore changes'],
    ...['web2 apply', 'web2 compare'],
    ...['web1 forwards', 'web1 hand over', 'web1 forwards', 'web2 release'],
  ]);
  expect(await stateOf(id)).toEqual({ step: 'switched', host: 'web2' });
});

it('leaves the website where it was, and writable, if the new machine shows it worse', async () => {
  const id = await newMove();
  worse = 'the home page answers 500';
  await expect(move(id)).rejects.toThrow(
    /stays where it was, because on the new machine the home page answers 500/,
  );
  expect(last(2)).toEqual(['web2 compare', 'web1 release']);
  expect(await stateOf(id)).toEqual({ step: 'copying', host: 'web1' });
});

it('carries no snapshots along of an earlier move whose new machine is silent', async () => {
  const earlier = await newMove('failed');
  await move(await newMove());
  for (const id of snapshotsOf(earlier)) expect(discarded).toContain(id);
});

it('returns to the former machine without asking the lost one', async () => {
  const id = await newMove();
  failures.set('web2 release', new HostUnreachableError('The host does not answer.'));
  await expect(move(id)).rejects.toThrow(Postponed);
  expect(await stateOf(id)).toEqual({ step: 'switched', host: 'web2' });
  const { moves } = homeport.services;
  const { database } = homeport.platform;
  const setReason = (reason: string | null) =>
    database.write(({ queries }) =>
      queries.updateTable('hosts').set({ reason }).where('name', '=', 'web2').execute(),
    );
  await setReason(null);
  await expect(moves.giveBack(install.name)).rejects.toThrow(/answers, so the move .* goes on/);
  await setReason('connection refused');
  expect(await moves.lossOfReturn(install.name)).toMatch(/changed on web2 since then is lost/);
  await moves.giveBack(install.name);
  expect(await stateOf(id)).toEqual({ step: 'returning', host: 'web1' });
  calls = [];
  await move(id);
  expect(calls).toEqual(['web1 apply', 'web1 release']);
});

it.each<MoveStep>(['handing_over', 'switched'])(
  'goes on from %s without the former machine once that is given up',
  async (step) => {
    const id = await newMove(step);
    const { database } = homeport.platform;
    const place = (name: string) =>
      database.write(({ queries }) =>
        queries
          .updateTable('installs')
          .set({ host_id: host(name) })
          .where('id', '=', install.id)
          .execute(),
      );
    if (step === 'switched') await place('web2');
    await homeport.services.lostHosts.giveUp('web1');
    await move(id);
    expect(calls).toEqual(['web2 release']);
    expect(await stateOf(id)).toEqual({ step: 'switched', host: 'web2' });

    // It was not in contact while it was lost, so it still serves what it had.
    await homeport.services.lostHosts.takeBack('web1');
    const aside: string[] = [];
    const inventory = await servingInventory(homeport.platform, [install], aside);
    await reconcileHost(homeport.platform, inventory, host('web1'));
    expect(aside).toEqual([install.id]);
  },
);

it('releases the website if a command fails during the hold', async () => {
  const id = await newMove();
  failures.set('web1 snapshot changes', new Error('disk'));
  await expect(move(id)).rejects.toThrow('disk');
  expect(last(2)).toEqual(['web1 hold for a while', 'web1 release']);
});

it('hands nothing over after a standstill, in which another worker may have begun the move again', async () => {
  const id = await newMove();
  before = async (call) => {
    isOwn = call !== 'web2 compare';
  };
  await expect(move(id)).rejects.toThrow(/another worker/);
  expect(calls).not.toContain('web1 hand over');
  expect(await stateOf(id)).toEqual({ step: 'copying', host: 'web1' });
});

it('makes the former machine writable again while the new one is silent', async () => {
  const id = await newMove('failed');
  const silent = {
    machine: async (hostId: string) => {
      if (hostId === host('web2')) throw new HostUnreachableError('no answer');
      return fleet.machine(hostId);
    },
  };
  await expect(runClearing(homeport.platform, silent, id)).rejects.toThrow(Postponed);
  expect(calls).toEqual(['web1 release']);
  // The operator gives the new machine up.
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('moves')
      .set({ to_host: homeport.platform.random.uuid() })
      .where('id', '=', id)
      .execute(),
  );
  await runClearing(homeport.platform, silent, id);
  expect(calls).toEqual(['web1 release', 'web1 release']);
});

it('copies again if the hold ended before the hand-over', async () => {
  const id = await newMove();
  failures.set('web1 hand over', new PermanentHostError('the website takes changes again'));
  await expect(move(id)).rejects.toThrow(/the hold of the website ended/);
  expect(await stateOf(id)).toEqual({ step: 'copying', host: 'web1' });
  expect(calls).not.toContain('web2 release');
});

it.each<[MoveStep, string[]]>([
  ['handing_over', ['web1 forwards', 'web1 hand over', 'web1 forwards', 'web2 release']],
  ['switched', ['web1 forwards', 'web2 release']],
])('goes forward from %s after a crash', async (step, expected) => {
  const id = await newMove(step);
  await move(id);
  expect(calls).toEqual(expected);
});

it('hands nothing over if it was cancelled meanwhile', async () => {
  const id = await newMove();
  before = async (call) => {
    if (call !== 'web2 compare') return;
    await homeport.platform.database.write(({ queries }) =>
      changeMove(queries, id, ['copying'], { step: 'cancelled' }),
    );
  };
  await expect(move(id)).rejects.toThrow(/cancelled/);
  expect(calls).not.toContain('web1 hand over');
  calls = [];
  await runClearing(homeport.platform, fleet, id);
  expect(calls).toEqual(['web1 release', 'web2 remove']);
  expect((await findMove(homeport.platform.database.reader, id))?.cleared_at).not.toBeNull();
});

it('removes the former copy, but never the machine that has the install, nor its backups', async () => {
  const id = await newMove('moved');
  // It is still on the former machine, as after a move back.
  await runClearing(homeport.platform, fleet, id);
  expect(calls).toEqual([]);

  const { database } = homeport.platform;
  await database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ host_id: host('web2') })
      .where('id', '=', install.id)
      .execute(),
  );
  isShared = true;
  movesWebsites = false;
  await expect(runClearing(homeport.platform, fleet, await newMove('moved'))).rejects.toThrow(Postponed);
  movesWebsites = true;
  await runClearing(homeport.platform, fleet, await newMove('moved'));
  isShared = false;
  await runClearing(homeport.platform, fleet, await newMove('moved'));
  expect(calls).toEqual(['web1 remove, keeping backups', 'web1 remove']);
});

it('lets the new machine open the backups from the beginning of the move, and no other', async () => {
  const passwordAt = (name: string) =>
    hostQuestions(homeport.platform, host(name)).backupPassword(install.id);
  await expect(passwordAt('web2')).rejects.toThrow(/not on this host/);
  const id = await newMove();
  expect(await passwordAt('web2')).toBe(await passwordAt('web1'));
  await homeport.platform.database.write(({ queries }) =>
    changeMove(queries, id, ['copying'], { step: 'failed' }),
  );
  await expect(passwordAt('web2')).rejects.toThrow(/not on this host/);
});
