import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import type { Inventory } from '../../hosting/contract/inventory.ts';
import { installsWithoutBackup } from '../backups/daily-backup-store.ts';
import { EMBEDDED } from './orphan-store.ts';
import { reconcileHost } from './reconciliation.ts';

let homeport: TestHomeport;
let install: { id: string; name: string };
beforeAll(async () => {
  homeport = await startTestHomeport();
  const { accountId, owner } = await homeport.ownedAccount();
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

/** What the host says, with this data lost. */
async function reconcile(lost: string[]): Promise<string | null> {
  const inventory: Inventory = {
    heldInstalls: async (after) => ({
      platform: null,
      installs:
        after === null
          ? [
              {
                id: install.id,
                name: install.name,
                hostnames: [],
                digest: null,
                ...(lost.length > 0 ? { lost } : {}),
              },
            ]
          : [],
    }),
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
