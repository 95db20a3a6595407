import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, callJson } from '../../../test/cli/call-homeport.ts';
import { environmentFor } from '../../../test/cli/run-homeport.ts';
import {
  copyDatabase,
  type DatabaseCopy,
  type DatabasePlace,
  migratedPlace,
} from '../../../test/database.ts';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { operatorFor } from '../../access/caller.ts';
import { checkOrphans } from '../../cli/doctor/orphans.ts';
import type { Inventory } from '../../hosting/contract/inventory.ts';
import { findInstallStatus } from '../websites/installs/website-store.ts';
import { EMBEDDED } from './orphan-store.ts';
import { reconcileHost } from './reconciliation.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', test);

const UNKNOWN = 'nobody.example';

const files = (place: DatabasePlace, id: string) =>
  join(place.settings.dataDir, 'host', 'installs', id, 'files');

async function statusOf(homeport: TestHomeport, name: string): Promise<number> {
  return (await visit(homeport, `http://${name}/`)).status;
}

/** Jobs apply websites that differ from the database after the start. */
const eventually = (homeport: TestHomeport, name: string, status: number) =>
  expect.poll(() => statusOf(homeport, name), { timeout: 60_000 }).toBe(status);

const platformName = ({ config }: TestHomeport, name: string) => `${name}.${config.siteDomain}`;

describe('an older database', () => {
  let place: DatabasePlace;
  let older: DatabaseCopy;
  let newer: DatabaseCopy;
  let accountId: string;
  let owner: Person;
  let kept: { id: string; name: string };
  let later: { id: string; name: string };

  /** Runs a server for as long as `work` takes. */
  async function serving(work: (homeport: TestHomeport) => Promise<void>): Promise<void> {
    // A kept backup of a deleted install would be an orphan, too.
    const homeport = await startTestHomeport({ place, environment: { HOMEPORT_DELETED_DAYS: '0' } });
    try {
      await homeport.idle();
      await work(homeport);
    } finally {
      await homeport.remove();
    }
  }

  const addDomain = async (homeport: TestHomeport, install: { id: string }, name: string) => {
    const client = homeport.clientOf(owner.credential);
    expect((await client.post(`/installs/${install.id}/domains`, { name })).status).toBe(201);
    await homeport.idle();
  };

  beforeAll(async () => {
    place = await migratedPlace();
    await serving(async (homeport) => {
      ({ accountId, owner } = await homeport.ownedAccount());
      kept = await homeport.install(owner, accountId);
      await addDomain(homeport, kept, 'kept.example');
    });
    older = await copyDatabase(place);
    await serving(async (homeport) => {
      later = await homeport.install(owner, accountId);
      writeFileSync(join(files(place, later.id), 'index.html'), "the later customer's");
      await addDomain(homeport, later, 'customer.example');
      await addDomain(homeport, kept, 'added.example');
      const client = homeport.clientOf(owner.credential);
      const { body } = await client.get(`/installs/${kept.id}/domains`);
      const { id } = Object(body).results.find(({ name }: { name: string }) => name === 'kept.example');
      expect((await client.delete(`/installs/${kept.id}/domains/${id}`)).status).toBe(204);
      await homeport.idle();
      expect(await statusOf(homeport, 'customer.example')).toBe(200);
      expect(await statusOf(homeport, 'added.example')).toBe(200);
      expect(await statusOf(homeport, 'kept.example')).toBe(404);
    });
    newer = await copyDatabase(place);
    await older.restore();
  });
  afterAll(async () => {
    await older?.remove();
    await newer?.remove();
    await place?.remove();
  });

  rule('stops serving an unknown install and keeps its files', async () => {
    await serving(async (homeport) => {
      const unknown = await visit(homeport, `http://${UNKNOWN}/`);
      expect(unknown.status).toBe(404);
      for (const name of ['customer.example', platformName(homeport, later.name)]) {
        const answer = await visit(homeport, `http://${name}/`);
        expect([answer.status, answer.body]).toEqual([404, unknown.body]);
      }
      expect(readFileSync(join(files(place, later.id), 'index.html'), 'utf8')).toBe("the later customer's");
    });
  });

  rule('serves domains as stored', async () => {
    await serving(async (homeport) => {
      await eventually(homeport, 'kept.example', 200);
      expect(await statusOf(homeport, 'added.example')).toBe(404);
      expect(await statusOf(homeport, platformName(homeport, kept.name))).toBe(200);
    });
  });

  rule('has the install named by doctor and the command line', async () => {
    await serving(async (homeport) => {
      const [finding] = await checkOrphans(homeport.platform.database, homeport.config);
      expect(finding).toMatchObject({
        state: 'warning',
        message: expect.stringMatching(new RegExp(`no longer served; their data is kept: ${later.name}\\.$`)),
        remedy: expect.stringContaining('homeport install discard'),
      });
    });
    expect(await callJson(await environmentFor(place), 'install', 'orphans')).toEqual([
      expect.objectContaining({
        id: later.id,
        name: later.name,
        host: null,
        hostnames: expect.arrayContaining(['customer.example']),
        is_served: false,
      }),
    ]);
  });

  rule('creates a new install of the same name without the old files', async () => {
    await serving(async (homeport) => {
      const made = await homeport.services.installs.create(operatorFor(owner.userId), {
        name: later.name,
        account_id: accountId,
      });
      await homeport.idle();
      expect(await findInstallStatus(homeport.platform.database.reader, made.id)).toBe('active');
      const page = await visit(homeport, `http://${platformName(homeport, later.name)}/`);
      expect(page.status).toBe(200);
      expect(page.body).not.toContain("the later customer's");
      expect((await homeport.clientOf(owner.credential).delete(`/installs/${made.id}`)).status).toBe(204);
      await homeport.idle();
    });
    expect(existsSync(files(place, later.id))).toBe(true);
  });

  rule('serves the install again once it is known', async () => {
    await newer.restore();
    await serving(async (homeport) => {
      await eventually(homeport, 'customer.example', 200);
      expect((await visit(homeport, 'http://customer.example/')).body).toBe("the later customer's");
      await eventually(homeport, 'added.example', 200);
      expect(await checkOrphans(homeport.platform.database, homeport.config)).toMatchObject([
        { state: 'ok' },
      ]);
    });
    await older.restore();
  });

  test('lets the operator delete it for good', async () => {
    await serving(async () => {});
    const environment = await environmentFor(place);
    expect(await call(environment, 'install', 'discard', later.id)).toMatchObject({ code: 1 });
    expect(await call(environment, 'install', 'discard', kept.id, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no orphan'),
    });
    expect(await call(environment, 'install', 'discard', later.id, '--yes')).toMatchObject({
      code: 0,
      stdout: `Deleted ${later.name} (${later.id}).\n`,
    });
    expect(existsSync(join(files(place, later.id), '..'))).toBe(false);
    expect(await callJson(environment, 'install', 'orphans')).toEqual([]);
  });
});

onlyOn('sqlite', describe)('a database of another platform', () => {
  let place: DatabasePlace;
  let empty: DatabaseCopy;
  let foreign: { id: string; name: string };

  beforeAll(async () => {
    place = await migratedPlace();
    empty = await copyDatabase(place);
    const homeport = await startTestHomeport({ place });
    const { accountId, owner } = await homeport.ownedAccount();
    foreign = await homeport.install(owner, accountId);
    await homeport.remove();
    await empty.restore();
  });
  afterAll(async () => {
    await empty?.remove();
    await place?.remove();
  });

  test('takes nothing offline until the operator confirms that the host belongs to it', async () => {
    const homeport = await startTestHomeport({ place });
    try {
      expect(await statusOf(homeport, platformName(homeport, foreign.name))).toBe(200);
      const [finding] = await checkOrphans(homeport.platform.database, homeport.config);
      expect(finding).toMatchObject({
        state: 'problem',
        message: `Served, though the database does not know them: ${foreign.name}.`,
        remedy: expect.stringContaining('"homeport host adopt"'),
      });

      const { accountId, owner } = await homeport.ownedAccount();
      const create = async (name: string) => {
        const { id } = await homeport.services.installs.create(operatorFor(owner.userId), {
          name,
          account_id: accountId,
        });
        await homeport.idle();
        return findInstallStatus(homeport.platform.database.reader, id);
      };
      expect(await create(foreign.name)).toBe('failed');
      expect(await create(`other${process.pid}`)).toBe('active');

      const environment = await environmentFor(place);
      expect(await call(environment, 'install', 'discard', foreign.id, '--yes')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('"homeport host adopt"'),
      });
      expect(await statusOf(homeport, platformName(homeport, foreign.name))).toBe(200);
      expect(await call(environment, 'host', 'adopt')).toMatchObject({ code: 1 });
      expect(await call(environment, 'host', 'adopt', '--yes')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Websites set aside: 1'),
      });
      await expect
        .poll(() => statusOf(homeport, platformName(homeport, foreign.name)), { timeout: 60_000 })
        .toBe(404);
      expect(await statusOf(homeport, platformName(homeport, `other${process.pid}`))).toBe(200);
    } finally {
      await homeport.remove();
    }
  });
});

onlyOn('sqlite', describe)('an install with unfinished jobs', () => {
  /** An inventory of one served install, and whether it was set aside. `meanwhile` runs while the host lists it. */
  function holding(install: () => { id: string; name: string }, meanwhile: () => Promise<void>) {
    const aside: string[] = [];
    const inventory: Inventory = {
      async heldInstalls(after) {
        if (after !== null) return { platform: null, installs: [] };
        await meanwhile();
        return { platform: null, installs: [{ ...install(), hostnames: [], digest: 'a'.repeat(64) }] };
      },
      async belongTo() {},
      async setAside(_platform, ids) {
        aside.push(...ids);
        return [...ids];
      },
    };
    return { inventory, aside };
  }

  let homeport: TestHomeport;
  beforeAll(async () => {
    // Without a worker, jobs stay queued.
    homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  });
  afterAll(() => homeport?.remove());

  test('is never set aside during provisioning or removal', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const install = { id: '', name: `making${process.pid}` };
    const made = holding(
      () => install,
      async () => {
        const asked = { name: install.name, account_id: accountId };
        install.id = (await homeport.services.installs.create(operatorFor(owner.userId), asked)).id;
      },
    );
    expect(await reconcileHost(homeport.platform, made.inventory, EMBEDDED)).toMatchObject({
      refusal: null,
      orphans: [],
    });
    expect((await owner.client.delete(`/installs/${install.id}`)).status).toBe(204);
    const removed = holding(
      () => install,
      async () => {},
    );
    await reconcileHost(homeport.platform, removed.inventory, EMBEDDED, { accepted: true });
    expect([...made.aside, ...removed.aside]).toEqual([]);
  });
});
