import type { Command } from 'commander';
import { configOf } from '../platform/configuration.ts';
import { printJson } from '../terminal/output.ts';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .summary('bring the database up to date')
    .description(
      'bring the database up to date, and make it if there is none. "homeport serve" does so too when it starts; ' +
        'this is for upgrades in which the database goes first',
    )
    .option('--json', 'print JSON: applied (names of the migrations carried out now), total')
    .addHelpText('after', '\nExample:\n  homeport migrate')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const config = configOf(command);
      const { openCurrentDatabase } = await import('../../app/open-platform.ts');
      const { createQuietLog } = await import('../platform/quiet-log.ts');
      const { database, migrations } = await openCurrentDatabase(config, await createQuietLog(config));
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
