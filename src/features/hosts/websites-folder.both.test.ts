import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, temporaryFolder } from '../../../test/database.ts';
import { startTestHomeport } from '../../../test/homeport.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { timestamp } from '../../lib/clock.ts';
import { claimWebsites, compareWebsites, takeOverWebsites } from './websites-folder.ts';
import { findWebsitesFolder } from './websites-folder-store.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const clock = manualClock(new Date('2030-01-31T12:00:00Z'));

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.remove());
beforeEach(async () => {
  lastServer = null;
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('websites_folder').execute();
    await queries.deleteFrom('workers').execute();
  });
});

const FIRST = { id: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11', machine: 'web1', path: '/var/lib/homeport' };
const SECOND = { id: '2e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c22', machine: 'web2', path: '/srv/homeport' };

/** Runs while the server waits. */
type Meanwhile = () => Promise<void>;
const nothing: Meanwhile = async () => {};
const never: Meanwhile = async () => {
  throw new Error('it waited');
};

const HERE = 17;
/** The id stored in the folder; null: none. */
let lastServer: string | null = null;
const around = (meanwhile: Meanwhile) => ({
  process: `web1:${HERE}`,
  lastServer: {
    read: async () => lastServer,
    async note(process: string) {
      lastServer = process;
    },
  },
  database,
  clock,
  async pause(ms: number) {
    clock.advance(ms);
    await meanwhile();
  },
  runsHere: (pid: number) => pid === HERE,
});
const claim = (folder: typeof FIRST, meanwhile = never) => claimWebsites(around(meanwhile), folder);
const compare = (folder: typeof FIRST, meanwhile = never) => compareWebsites(around(meanwhile), folder);
async function showWorker(process: string): Promise<void> {
  const worker = { id: crypto.randomUUID(), process, seen_at: timestamp(clock) };
  await database.write(({ queries }) => queries.insertInto('workers').values(worker).execute());
}
const takeOver = (folder: typeof FIRST) => takeOverWebsites({ database, clock }, folder);
const claimed = () => findWebsitesFolder(database.reader);

describe('the websites folder', () => {
  it('is the first one served from, and no other', async () => {
    await claim(FIRST);
    await claim(FIRST);
    await expect(claim(SECOND)).rejects.toThrow(
      'The websites of this database are in another data folder: /var/lib/homeport on web1. ' +
        'Start this one with "--only api"; or bring that folder here, if web1 is to host no more; ' +
        'or, if it is lost, let this one take its place: "homeport host take-over".',
    );
    expect(await claimed()).toEqual({ ...FIRST, claimed_at: '2030-01-31T12:00:00.000Z' });
  });

  it('is one of two that start at the same moment', async () => {
    const begun = await Promise.allSettled([claim(FIRST), claim(SECOND)]);
    expect(begun.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('stays the same when moved, under its new path', async () => {
    await claim(FIRST);
    await claim({ ...FIRST, machine: 'web3', path: '/data' });
    await expect(claim(SECOND)).rejects.toThrow('/data on web3');
  });

  it('is not a copy of one that is still served', async () => {
    await claim(FIRST);
    await showWorker('web1:4711');
    await expect(claim({ ...FIRST, machine: 'web3' })).rejects.toThrow(
      'The websites of this database are still served, from /var/lib/homeport on web1. End the server there first',
    );
    await database.write(({ queries }) => queries.deleteFrom('workers').execute());
    await claim({ ...FIRST, machine: 'web3' });
    expect(await claimed()).toMatchObject({ machine: 'web3' });
  });

  it('is not a copy of one that a machine of the same name serves at the same path', async () => {
    await claim(FIRST);
    await showWorker('web1:4711');
    const heartbeat: Meanwhile = async () => {
      await database.write(({ queries }) =>
        queries
          .updateTable('workers')
          .set({ seen_at: timestamp(clock) })
          .execute(),
      );
    };
    await expect(claim(FIRST, heartbeat)).rejects.toThrow(
      'The websites of this database are still served, from /var/lib/homeport on another machine that calls itself web1: ' +
        'one is a copy of the other. End the server there first',
    );
    await expect(compare(FIRST, heartbeat)).rejects.toThrow('Run this command there');
  });

  it('is claimed from a killed server once its heartbeat lapsed', async () => {
    await claim(FIRST);
    await showWorker('web1:4711');
    const before = clock.now().getTime();
    await claim(FIRST, nothing);
    expect(clock.now().getTime() - before).toBe(10_000);
  });

  it('is claimed at once from a killed server that had this same folder', async () => {
    await claim(FIRST);
    expect(lastServer).toBe(`web1:${HERE}`);
    lastServer = 'web1:4711';
    await showWorker('web1:4711');
    await claim(FIRST, never);
  });

  it('waits for other workers under the same machine name, and in a command for each', async () => {
    await claim(FIRST);
    lastServer = 'web1:4711';
    await showWorker('web1:4712');
    await expect(claim(FIRST, never)).rejects.toThrow('it waited');
    lastServer = 'web1:4712';
    await expect(compare(FIRST, never)).rejects.toThrow('it waited');
  });

  it('does not wait for workers of this machine or of other machines', async () => {
    await claim(FIRST);
    await showWorker(`web1:${HERE}`);
    await showWorker('web10:4711');
    await claim(FIRST, never);
  });

  it('is compared by a command, which records nothing', async () => {
    await compare(SECOND);
    expect(await claimed()).toBeUndefined();
    await claim(FIRST);
    await compare(FIRST);
    await expect(compare(SECOND)).rejects.toThrow(
      'The websites of this database are in another data folder: /var/lib/homeport on web1. ' +
        'Start the server on web1, which continues the waiting jobs, or run this command there; ' +
        'or, if that folder is lost, let this one take its place: "homeport host take-over".',
    );
    await compare({ ...FIRST, machine: 'web3' });
    expect(await claimed()).toMatchObject({ machine: 'web1' });
  });

  it('changes when another takes its place', async () => {
    expect(await takeOver(FIRST)).toBeNull();
    expect(await takeOver(FIRST)).toBeNull();
    expect(await takeOver(SECOND)).toMatchObject(FIRST);
    await claim(SECOND);
    await expect(claim(FIRST)).rejects.toThrow('/srv/homeport on web2');
  });
});

onlyOn('postgres', describe)('a second machine on the same PostgreSQL', () => {
  it('serves the API but no websites, and serves them after a move', async () => {
    const first = await startTestHomeport();
    const other = temporaryFolder();
    const place = { ...first.place, settings: { ...first.place.settings, dataDir: other.path } };
    try {
      await expect(startTestHomeport({ place })).rejects.toThrow(
        `The websites of this database are in another data folder: ${first.config.dataDir} on `,
      );
      const api = await startTestHomeport({ place, roles: { api: true, hosting: false } });
      expect((await api.anonymous.get('/status')).status).toBe(200);
      await api.stop();

      cpSync(join(first.config.dataDir, 'host'), join(other.path, 'host'), { recursive: true });
      await expect(startTestHomeport({ place })).rejects.toThrow('are still served, from');
      await first.stop();
      const moved = await startTestHomeport({ place });
      expect(moved.hosting).not.toBeNull();
      await moved.stop();
    } finally {
      await first.remove();
      other.remove();
    }
  });
});
