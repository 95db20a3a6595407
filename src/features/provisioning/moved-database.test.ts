import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { SQLITE_FILE } from '../../database/open.ts';
import { markMoved } from '../../database/to-postgres/moved-mark.ts';
import { EMBEDDED } from './orphan-store.ts';
import { reconcileHost } from './reconciliation.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
});
afterAll(() => homeport?.remove());

test('a server on a database that was moved sets aside no website that was made since', async () => {
  const aside: string[] = [];
  const stranger = { id: randomUUID(), name: 'made-since', hostnames: [], digest: 'a'.repeat(64) };
  const inventory = {
    heldInstalls: async (after: string | null) => ({
      platform: null,
      installs: after === null ? [stranger] : [],
    }),
    belongTo: async () => {},
    setAside: async (_platform: string, ids: readonly string[]) => {
      aside.push(...ids);
      return [...ids];
    },
  };
  const reconcile = () => reconcileHost(homeport.platform, inventory, EMBEDDED, { accepted: true });
  await reconcile();
  expect(aside).toEqual([stranger.id]);

  const connection = new Sqlite(join(homeport.config.dataDir, SQLITE_FILE));
  markMoved(connection, { to: 'db.example/homeport', at: '2026-01-01T00:00:00.000Z' });
  connection.close();
  await expect(reconcile()).rejects.toThrow(/was moved to PostgreSQL at db\.example/);
  expect(aside).toEqual([stranger.id]);
});
