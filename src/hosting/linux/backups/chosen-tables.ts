import type { DatabaseTables } from '../../websites/backup-contents/separable-tables.ts';
import type { Databases } from '../daemons/databases.ts';
import { textLiteral } from '../daemons/sql.ts';

export async function tablesOf(
  databases: Pick<Databases, 'query'>,
  database: string,
): Promise<DatabaseTables> {
  const tables = await databases.query(
    database,
    `SELECT TABLE_NAME FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_TYPE = 'BASE TABLE'`,
  );
  const keys = await databases.query(
    database,
    `SELECT TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS
      WHERE CONSTRAINT_SCHEMA = ${textLiteral(database)}`,
  );
  return { tables: tables.flat(), keys };
}
