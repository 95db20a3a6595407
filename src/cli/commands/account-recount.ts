import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson } from '../terminal/output.ts';

/** `homeport account recount`. */
export function addAccountRecountCommand(account: Command): void {
  account
    .command('recount')
    .description(
      'compare the stored numbers of accounts and the rows of their lists with what they derive from, and repair them',
    )
    .option('--json', 'print JSON: an array of the ids of repaired accounts')
    .addHelpText(
      'after',
      '\n"homeport doctor" says whether it is needed.\n\nExample:\n  homeport account recount',
    )
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const { miscountedAccounts, recountAccount } = await import(
        '../../features/websites/installs/recount-store.ts'
      );
      await withPlatform(command, async ({ database }) => {
        const accounts = await database.withoutTimeLimit(miscountedAccounts);
        for (const id of accounts) await recountAccount(database, id);
        if (json) return printJson(accounts);
        process.stdout.write(
          accounts.length === 0
            ? 'Everything is right.\n'
            : `Counted and derived again: ${accounts.length} account${accounts.length === 1 ? '' : 's'}.\n`,
        );
      });
    });
}
