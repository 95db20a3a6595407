import type { MeasuredDatabase, MeasuredStorage } from '../../contract/usage.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import type { Databases } from '../daemons/databases.ts';
import { identifier, textLiteral } from '../daemons/sql.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Values of `autoload` that WordPress loads with every request; `yes` until version 6.6. */
const AUTOLOADED = "'yes', 'on', 'auto', 'auto-on'";

/** Measures the files and the database of a website. */
export async function measureStorage(
  { layout, databases, quotas }: { layout: LinuxLayout; databases: Databases; quotas: ProjectQuotas },
  install: HostedInstall,
  signal?: AbortSignal,
): Promise<MeasuredStorage> {
  // A project quota counts already.
  const [counted] = await quotas.usage([layout.homeOf(install.ref.id)]);
  const { bytes, files } = counted ?? (await measureWebsite(layout, install.sandbox, signal));
  signal?.throwIfAborted();
  const database = await measureDatabase(databases, install.database);
  return { fileBytes: bytes, files, limits: layout.limits, database };
}

/** Sizes are those of the storage engine's statistics, which the server updates by itself. */
async function measureDatabase(databases: Databases, database: string): Promise<MeasuredDatabase> {
  const [row = []] = await databases.query(
    database,
    `SELECT COUNT(*), COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0), COALESCE(SUM(DATA_LENGTH), 0)
      FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE = 'BASE TABLE'`,
  );
  const [tables, bytes, dataBytes] = row.map(Number);
  if (tables === undefined || bytes === undefined || dataBytes === undefined) {
    throw new Error(`the database ${database} was not measured`);
  }
  return { tables, bytes, dataBytes, autoloadedBytes: await autoloadedBytes(databases, database) };
}

/** Over all tables of options, whatever their prefix. A view could run a customer's functions, so views are left out. */
async function autoloadedBytes(databases: Databases, database: string): Promise<number | null> {
  const tables = await databases.query(
    database,
    `SELECT c.TABLE_NAME FROM information_schema.COLUMNS c JOIN information_schema.TABLES t
        ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE = 'BASE TABLE'
      WHERE c.TABLE_SCHEMA = ${textLiteral(database)} AND c.TABLE_NAME LIKE '%options' AND c.COLUMN_NAME IN ('option_value', 'autoload')
      GROUP BY c.TABLE_NAME HAVING COUNT(*) = 2 LIMIT 100`,
  );
  if (tables.length === 0) return null;
  let bytes = 0;
  for (const [table = ''] of tables) {
    const [[sum = '0'] = []] = await databases.query(
      database,
      `SELECT COALESCE(SUM(LENGTH(option_value)), 0) FROM ${identifier(table)} WHERE autoload IN (${AUTOLOADED})`,
    );
    bytes += Number(sum);
  }
  return bytes;
}
