import type { Command } from 'commander';
import { configOf } from '../platform/configuration.ts';
import { printJson } from '../terminal/output.ts';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .summary('update the database schema')
    .description(
      'update the database schema, and create the database if it is missing. "homeport serve" does this too; use this command to ' +
        'migrate before you start a new version',
    )
    .option('--json', 'print JSON: applied (names of the migrations carried out now), total')
    .addHelpText('after', '\nExample:\n  homeport migrate')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const config = configOf(command);
      const { openCurrentDatabase } = await import('../../app/open-platform.ts');
      const { createQuietLog } = await import('../platform/quiet-log.ts');
      const { database, migrations } = await openCurrentDatabase(config, await createQuietLog(config), {
        isCommand: true,
      });
      await database.close();
      if (json) return printJson(migrations);
      const { applied, total } = migrations;
      process.stdout.write(
        applied.length === 0
          ? `The database is up to date (${total === 1 ? '1 migration' : `${total} migrations`}).\n`
          : `Applied ${applied.join(', ')}. The database is up to date.\n`,
      );
    });
}
