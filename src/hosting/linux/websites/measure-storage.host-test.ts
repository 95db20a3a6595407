import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BackupMachine, startBackupMachine } from '../backups/backups.fixture.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { measureStorage } from './measure-storage.ts';

let machine: BackupMachine;
let shop: HostedInstall;

beforeAll(async () => {
  machine = await startBackupMachine();
  shop = await machine.newWebsite();
});
afterAll(() => machine?.stop());

const query = (sql: string) => machine.databases.query(shop.database, sql);

test('files and the database are measured', async () => {
  const before = await measureStorage(machine, shop);
  expect(before.database).toMatchObject({ tables: 1, autoloadedBytes: null });
  expect(before.database?.bytes).toBeGreaterThan(0);
  expect(before.database?.dataBytes).toBeLessThanOrEqual(before.database?.bytes ?? 0);

  machine.put(shop, 'photo.jpg', randomBytes(700_000));
  await query(
    "CREATE TABLE shop_options (option_id INT PRIMARY KEY, option_name VARCHAR(100), option_value LONGTEXT, autoload VARCHAR(20)); INSERT INTO shop_options VALUES (1, 'a', REPEAT('x', 1000), 'yes'), (2, 'b', REPEAT('x', 200), 'auto-on'), (3, 'c', REPEAT('x', 50000), 'no'), (4, 'd', REPEAT('ä', 10), 'on')",
  );
  const after = await measureStorage(machine, shop);
  expect(after.fileBytes - before.fileBytes).toBeGreaterThanOrEqual(700_000);
  expect(after.fileBytes - before.fileBytes).toBeLessThan(800_000);
  expect((after.files ?? 0) - (before.files ?? 0)).toBe(1);
  expect(after.limits).toEqual(machine.layout.limits);
  expect(after.database).toMatchObject({ tables: 2, autoloadedBytes: 1_220 });
});

test('views of a customer are not read', async () => {
  await query(
    "CREATE VIEW evil_options AS SELECT SLEEP(60) AS option_value, 'yes' AS autoload, 'x' AS option_name",
  );
  const measured = await measureStorage(machine, shop);
  expect(measured.database).toMatchObject({ tables: 2, autoloadedBytes: 1_220 });
});
