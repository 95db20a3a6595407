import type { Config } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/**
 * Throws OperatorError unless the websites of the database are in the data folder of this process. In another folder, every website would
 * look lost.
 */
export async function requireOwnFolder({
  config,
  database,
}: {
  config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  database: Pick<Database, 'reader'>;
}): Promise<void> {
  const { isOwnFolder } = await import('../../app/embedded-websites.ts');
  if (await isOwnFolder(config, database)) return;
  throw new OperatorError(
    'The websites of this database are in another data folder. Run this command there.',
  );
}
