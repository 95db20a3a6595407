import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson } from '../terminal/output.ts';

/** `homeport account recount`. */
export function addAccountRecountCommand(account: Command): void {
  account
    .command('recount')
    .description('compare the stored numbers of sites and installs with their rows, and repair them')
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
        const accounts = await miscountedAccounts(database.reader);
        for (const id of accounts) await recountAccount(database, id);
        if (json) return printJson(accounts);
        process.stdout.write(
          accounts.length === 0
            ? 'All numbers are right.\n'
            : `Counted the sites and installs of ${accounts.length} account${accounts.length === 1 ? '' : 's'} again.\n`,
        );
      });
    });
}
