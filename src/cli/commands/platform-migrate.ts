import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { configOf } from '../platform/configuration.ts';
import { printJson } from '../terminal/output.ts';

interface Options {
  to?: string;
  cancel?: boolean;
  json?: boolean;
}

export function addPlatformMigrate(platform: Command): void {
  platform
    .command('migrate')
    .summary('move the platform from SQLite to PostgreSQL')
    .description(
      'move the database of the platform from SQLite to an empty PostgreSQL database, and compare every row. The server may run: websites ' +
        'and reads are answered, and changes are refused from the start of this command until the server is restarted with the new database. ' +
        'If anything fails, the platform stays on SQLite',
    )
    .option(
      '--to <address>',
      'such as postgresql://homeport@db.internal/homeport; the password in PGPASSWORD or ~/.pgpass',
    )
    .option('--cancel', 'return to SQLite, without what was changed on PostgreSQL')
    .option('--json', 'print JSON: to, rows, tables; with --cancel: to')
    .addHelpText(
      'after',
      '\nExample:\n  homeport platform migrate --to postgresql://homeport@db.internal/homeport',
    )
    .action(async ({ to, cancel = false, json = false }: Options, command: Command) => {
      if (cancel === (to !== undefined))
        throw new OperatorError('Name the PostgreSQL database in --to, or return to SQLite with --cancel.');
      const config = configOf(command);
      const { cancelDatabaseMove, moveDatabase } = await import('./move-database.ts');
      if (to === undefined) {
        const left = cancelDatabaseMove(config);
        if (json) return printJson(left);
        process.stdout.write(
          `The platform is on SQLite again. Changes made in ${left.to} are only there. Leave HOMEPORT_DATABASE_URL out, and restart the server.\n`,
        );
        return;
      }
      const moved = await moveDatabase(config, to);
      if (json) return printJson(moved);
      process.stdout.write(
        `Moved ${moved.rows} rows of ${moved.tables} tables to ${moved.to}, and compared each.\n\nNext:\n`,
      );
      const { config: file = null } = command.optsWithGlobals<{ config?: string }>();
      for (const [index, step] of nextSteps(file).entries())
        process.stdout.write(`  ${index + 1}. ${withOwnCommand(step)}\n`);
    });
}

const nextSteps = (settings: string | null): string[] => [
  `Set HOMEPORT_DATABASE_URL to the address with its password${settings === null ? '' : ` in ${settings}`}.`,
  'Restart the server, and all processes of the control plane. Until then, changes are refused.',
  'Look at "homeport doctor". Then back up the platform: backups of SQLite are for SQLite only.',
];
