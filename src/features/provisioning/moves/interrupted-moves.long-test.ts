import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { methodsFor, routedTo } from '../../../hosting/contract/host-methods.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import { timestamp } from '../../../lib/clock.ts';
import { runClearing } from './clear-move.ts';
import { runMove } from './run-move.ts';
import { changeMove, findMove, insertMove } from './store.ts';

/**
 * Interrupts a move at each command to a machine. The commands are those of a whole move, so that no new one is forgotten. Machines are models: visitors
 * write between all commands at every machine that takes changes.
 */

interface Model {
  /** The writes that its website has; null without a website. */
  website: Set<number> | null;
  isServed: boolean;
  isAside: boolean;
  /** `timed` holds can end by themselves. */
  held: 'timed' | 'endless' | null;
  /** In memory: what is lost if the host is killed. */
  staged: string | null;
  noted: Set<string>;
}

type Kill = 'control plane' | 'control plane, until the hold ends' | 'host';

let homeport: TestHomeport;
let install: { id: string; name: string };
const ids = { web1: '', web2: '' };
const models = { web1: blank(), web2: blank() };
/** One repository, as in a bucket that both machines use. */
let snapshots: Map<string, Set<number>>;
let mark: string;
let acknowledged: Set<number>;
let commands: string[];
/** The command to interrupt, by its number from 0. */
let interruption: { at: number; when: 'before' | 'after'; kill: Kill } | null;
let isDead: boolean;

beforeAll(async () => {
  homeport = await startTestHomeport();
  const { accountId, owner } = await homeport.ownedAccount();
  for (const name of ['web1', 'web2'] as const) {
    ids[name] = (await homeport.services.hosts.add(name, 'https://10.0.0.2:8470')).host.id;
  }
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

function blank(): Model {
  return {
    website: null,
    isServed: false,
    isAside: false,
    held: null,
    staged: null,
    noted: new Set(),
  };
}

const takers = (): Model[] =>
  Object.values(models).filter((one) => one.website !== null && one.isServed && !one.isAside && !one.held);

/** A visitor writes at each machine that takes changes. */
function visit(): void {
  const present = takers();
  expect(present.length).toBeLessThanOrEqual(1);
  for (const { website } of present) {
    const write = acknowledged.size;
    website?.add(write);
    acknowledged.add(write);
  }
}

class Killed extends Error {}

async function command<Result>(name: string, at: Model | null, work: () => Result): Promise<Result> {
  if (isDead) throw new Killed();
  visit();
  const number = commands.push(name) - 1;
  const chosen = interruption?.at === number ? interruption : null;
  const result = chosen?.when === 'before' ? null : { of: work() };
  visit();
  if (chosen === null && result !== null) return result.of;
  if (chosen?.kill === 'host') {
    if (at !== null) Object.assign(at, { staged: null, noted: new Set() });
    throw new HostUnreachableError('The host does not answer.');
  }
  isDead = true;
  throw new Killed();
}

function need(website: Set<number> | null | undefined): Set<number> {
  if (website === null || website === undefined) throw new Error('there is no website');
  return website;
}

function machineOf(name: 'web1' | 'web2'): HostMachine {
  const model = models[name];
  const at = <Result>(what: string, work: () => Result) => command(`${name} ${what}`, model, work);
  const refused = () => Promise.reject(new Error('no such command in this test'));
  const written = { bytes: 1, files: 1, sha256: '0'.repeat(64) };
  return {
    ...methodsFor(routedTo('host'), () => refused),
    ...methodsFor(routedTo('website'), () => refused),
    ...methodsFor(routedTo('keeper'), () => refused),
    ...methodsFor(routedTo('own'), () => refused),
    start: refused,
    stop: refused,
    describe: async () => ({
      ...{ id: ids[name], capacity: 1, phpVersions: [], wordpressVersions: [], reservedNames: [] },
      ports: { http: 80, https: 443, ssh: 22 },
      movesWebsites: true,
    }),
    measureStorage: () => at('measure', () => ({ fileBytes: 1_000, database: null })),
    apply: ({ primaryHostname }) =>
      at(primaryHostname.endsWith('.invalid') ? 'prepare' : 'apply', () => {
        model.website ??= new Set();
        model.isAside = false;
        model.isServed = !primaryHostname.endsWith('.invalid');
        return { phpVersion: null, wordpressVersion: null, stableIps: null };
      }),
    holdWebsite: (_install, seconds) =>
      at('hold', () => {
        need(model.website);
        model.held = seconds === null ? 'endless' : 'timed';
      }),
    releaseWebsite: () =>
      at('release', () => {
        if (!model.isAside) model.held = null;
      }),
    snapshotBase: (_install, id) =>
      at('first snapshot', () => {
        model.noted.add(id);
        snapshots.set(id, new Set(need(model.website)));
        return written;
      }),
    snapshotChanges: (_install, id, base) =>
      at('last snapshot', () => {
        if (!model.noted.has(base)) throw new Error('the first copy is forgotten');
        snapshots.set(id, new Set(need(model.website)));
        return written;
      }),
    stageSnapshot: (_install, id) =>
      at('stage', () => {
        need(snapshots.get(id));
        model.staged = id;
      }),
    restoreChanges: (_install, id, { baseId }) =>
      at('restore', () => {
        if (model.staged !== baseId) throw new Error('the first copy is gone');
        model.website = new Set(need(snapshots.get(id)));
        model.staged = null;
        return written;
      }),
    discardSnapshot: (_install, id) => at('discard', () => void snapshots.delete(id)),
    readRepository: async () => Buffer.from(mark),
    async writeRepository(_install, _name, { content }) {
      mark = Buffer.from(content, 'base64').toString();
    },
    trimRepository: async () => {},
    observeWebsite: () => at('observe', () => '{}'),
    compareWebsite: () => at('compare', () => null),
    handOver: () =>
      at('hand over', () => {
        if (model.isAside) return;
        if (model.held === null) throw new PermanentHostError('the website takes changes again');
        Object.assign(model, { isAside: true, held: 'endless' });
      }),
    remove: () => at('remove', () => void Object.assign(model, blank())),
  };
}

const machines = { web1: machineOf('web1'), web2: machineOf('web2') };
const fleet = {
  machine: async (id: string) => (id === ids.web1 ? machines.web1 : machines.web2),
  forward: () => command('web1 forward', null, () => {}),
  announce: () => {},
};

/** Moves the install from web1 to web2, as often as its job would try after each interruption. */
async function wholeMove(chosen: typeof interruption): Promise<void> {
  const { database, random, clock, log } = homeport.platform;
  Object.assign(models.web1, blank(), { website: new Set([0]), isServed: true });
  Object.assign(models.web2, blank());
  [snapshots, mark, acknowledged, commands] = [new Map(), '', new Set([0]), []];
  [interruption, isDead] = [chosen, false];
  const id = random.uuid();
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('moves').execute();
    await queries.updateTable('installs').set({ host_id: ids.web1 }).where('id', '=', install.id).execute();
    await insertMove(queries, {
      ...{ id, install_id: install.id, install_name: install.name, step: 'copying' },
      ...{ from_host: ids.web1, to_host: ids.web2, job_id: random.uuid() },
      requested_at: timestamp(clock),
    });
  });
  for (let attempt = 0; ; attempt++) {
    const move = await findMove(database.reader, id);
    if (move === undefined) throw new Error('no move');
    const job = { signal: new AbortController().signal, progress: () => {}, log, isHeld: () => !isDead };
    try {
      await runMove(homeport.platform, fleet, move, job);
      break;
    } catch (error) {
      if (attempt === 3) throw error;
    }
    isDead = false;
    visit();
    if (chosen?.kill === 'control plane, until the hold ends') {
      for (const model of Object.values(models)) if (model.held === 'timed') model.held = null;
      visit();
    }
  }
  await database.write(({ queries }) => changeMove(queries, id, ['switched'], { step: 'moved' }));
  visit();
  expect(takers()).toEqual([models.web2]);
  await runClearing(homeport.platform, fleet, id);
}

/** What a move must end in. */
function expectOneWholeCopy(): void {
  visit();
  expect(takers()).toEqual([models.web2]);
  expect([...need(models.web2.website)].sort()).toEqual([...acknowledged].sort());
  expect(models.web1).toEqual(blank());
  expect(snapshots.size).toBe(0);
}

it('a move that is killed before or after any command ends in one copy with all writes', async () => {
  await wholeMove(null);
  expectOneWholeCopy();
  // Without those of the clearing, which has a job of its own.
  const moved = commands.slice(0, commands.lastIndexOf('web1 remove'));
  expect(moved.length).toBeGreaterThan(20);
  const faults: string[] = [];
  for (const [at, name] of moved.entries()) {
    for (const when of ['before', 'after'] as const) {
      for (const kill of ['control plane', 'control plane, until the hold ends', 'host'] as const) {
        try {
          await wholeMove({ at, when, kill });
          expectOneWholeCopy();
        } catch (error) {
          faults.push(`${kill}, ${when} ${at} "${name}": ${String(error).slice(0, 300)}`);
        }
      }
    }
  }
  expect(faults).toEqual([]);
});
