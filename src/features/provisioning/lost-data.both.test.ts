import { afterAll, beforeAll, expect, test } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { signedIn } from '../../../test/portal-client.ts';
import type { Inventory } from '../../hosting/contract/inventory.ts';
import { installsWithoutBackup } from '../backups/daily-backup-store.ts';
import { EMBEDDED } from './orphan-store.ts';
import { reconcileHost } from './reconciliation.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

/** What is stored after the host says that this data is lost; null: it has nothing of the website. `meanwhile` runs while it is asked. */
async function reconcile(lost: string[] | null, meanwhile = async () => {}): Promise<string | null> {
  const { id, name } = install;
  const inventory: Inventory = {
    async heldInstalls(after) {
      if (after !== null || lost === null) return { platform: null, installs: [] };
      await meanwhile();
      const held = { id, name, hostnames: [], digest: null, ...(lost.length > 0 ? { lost } : {}) };
      return { platform: null, installs: [held] };
    },
    belongTo: async () => {},
    setAside: async () => [],
  };
  await reconcileHost(homeport.platform, inventory, EMBEDDED);
  const { lost_data } = await homeport.platform.database.reader
    .selectFrom('installs')
    .select('lost_data')
    .where('id', '=', install.id)
    .executeTakeFirstOrThrow();
  return lost_data;
}

async function isBackedUp(): Promise<boolean> {
  const night = { night: '2026-01-01T00:00:00.000Z', again: '2026-01-01T00:00:00.000Z', most: 3 };
  const found = await installsWithoutBackup(homeport.platform.database.reader, night);
  return found.some(({ id }) => id === install.id);
}

test('nightly backups leave a website out while data of it is missing, so that they replace no good ones', async () => {
  expect(await reconcile([])).toBeNull();
  expect(await isBackedUp()).toBe(true);
  expect(await reconcile(['wp-config.php is missing.', 'The database is missing.'])).toBe(
    'wp-config.php is missing. The database is missing.',
  );
  expect(await isBackedUp()).toBe(false);
  expect(await reconcile([])).toBeNull();
  expect(await isBackedUp()).toBe(true);
});

test('a website that its machine does not have at all is not backed up either', async () => {
  expect(await reconcile(null)).toBe('The machine does not have this website.');
  expect(await isBackedUp()).toBe(false);
  expect(await reconcile([])).toBeNull();
  expect(await isBackedUp()).toBe(true);
});

test('a website that is being made while its host is asked has lost nothing', async () => {
  const { database } = homeport.platform;
  const become = (status: 'active' | 'pending') => async () => {
    await database.write(({ queries }) =>
      queries.updateTable('installs').set({ status }).where('id', '=', install.id).execute(),
    );
  };
  await become('pending')();
  expect(await reconcile(['The files of the website are missing.'], become('active'))).toBeNull();
  expect(await reconcile([])).toBeNull();
});

test('the API and the portal say what is missing, until a restore has replaced it', async () => {
  const backup = await owner.client.post(`/installs/${install.id}/backups`, {
    description: 'Before the loss',
    notification_emails: [],
  });
  await homeport.idle();
  await reconcile(['wp-config.php is missing.']);
  expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
    status: 'active',
    lost_data: 'wp-config.php is missing.',
  });
  expect((await owner.client.get('/installs')).body).toMatchObject({
    results: [{ id: install.id, lost_data: 'wp-config.php is missing.' }],
  });
  const reasons = [
    {
      kind: 'data_lost',
      domain: null,
      at: null,
      reason: 'wp-config.php is missing.',
      retry_operation_id: null,
    },
  ];
  const portal = await signedIn(homeport, owner);
  expect((await portal.get(`/accounts/${accountId}/attention`)).body).toEqual({
    count: 1,
    results: [{ install_id: install.id, install_name: install.name, reasons }],
  });
  const listed = await portal.get(`/accounts/${accountId}/installs?status=attention`);
  expect(field(listed.body, 'results')).toMatchObject([{ id: install.id, reasons }]);

  const restored = await owner.client.post(
    `/installs/${install.id}/backups/${text(backup.body, 'id')}/restore`,
    { notification_emails: [], create_checkpoint: false },
  );
  expect(restored.status).toBe(202);
  await homeport.idle();
  expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({ lost_data: null });
  expect((await portal.get(`/accounts/${accountId}/attention`)).body).toEqual({ count: 0, results: [] });
});
