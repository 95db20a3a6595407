import type { Command } from 'commander';
import { idArgument } from '../terminal/arguments.ts';

/** Adds the commands for orphans: installs that a host has and the database does not know. */
export function addOrphanCommands(install: Command): void {
  install
    .command('orphans')
    .summary('list installs that a host has and the database does not know')
    .description(
      'list installs that a host has and the database does not know, for example after restoring an older database. ' +
        'They are not served, and their data is kept. A database that knows them serves them again',
    )
    .option('--json', 'print JSON: an array of id, name, host, hostnames, is_served, found_at')
    .addHelpText('after', '\nExample:\n  homeport install orphans')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { listOrphans } = await import('./orphan-actions.ts');
      await listOrphans(options, command);
    });

  install
    .command('discard')
    .summary('delete an install that the database does not know')
    .description(
      'delete an install that the database does not know from its host, for good: its files, its database and its backups',
    )
    .argument('<install-id>', 'the install ("homeport install orphans")', idArgument)
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport install discard 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11')
    .action(async (id: string, options: { yes?: boolean }, command: Command) => {
      const { discardOrphan } = await import('./orphan-actions.ts');
      await discardOrphan(id, options, command);
    });
}
