import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { nameArgument } from '../terminal/arguments.ts';
import { printJson, table } from '../terminal/output.ts';
import { addAccountLimitsCommand } from './account-limits.ts';
import { addAccountPlacementCommand } from './account-placement.ts';
import { addAccountRecountCommand } from './account-recount.ts';
import { namedAccount } from './named-account.ts';

export function addAccountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('manage accounts, which own sites, installs and users');

  account
    .command('create')
    .description('create an account; add an owner with "homeport user create"')
    .requiredOption('--name <name>', 'name of the account', nameArgument)
    .option('--json', 'print JSON: id, name')
    .addHelpText('after', '\nExample:\n  homeport account create --name "Harbour Agency"')
    .action(async ({ name, json }: { name: string; json?: boolean }, command: Command) => {
      await withPlatform(command, async (_platform, { accounts }) => {
        const made = await accounts.create(name);
        if (json) return printJson(made);
        process.stdout.write(`Created the account ${made.name}: ${made.id}\n`);
      });
    });

  addAccountLimitsCommand(account);
  addAccountPlacementCommand(account);
  addAccountRecountCommand(account);

  account
    .command('update')
    .alias('change')
    .description('rename an account, or set its nickname')
    .argument('<account>', 'name or id of the account')
    .option('--name <name>', 'new name', nameArgument)
    .option('--nickname <nickname>', 'short name; an empty text removes it', nicknameArgument)
    .option('--json', 'print JSON: id, name, nickname')
    .addHelpText('after', '\nExample:\n  homeport account update "Harbour Agency" --nickname Harbour')
    .action(
      async (
        text: string,
        options: { name?: string; nickname?: string; json?: boolean },
        command: Command,
      ) => {
        await withPlatform(command, async (_platform, { accounts }) => {
          const { id } = namedAccount(await accounts.listAll(), text);
          const { json, ...change } = options;
          if (Object.keys(change).length === 0) throw new OperatorError('Give a new name or a nickname.');
          const { name, nickname } = await accounts.updateByOperator(id, change);
          if (json) return printJson({ id, name, nickname });
          process.stdout.write(
            `The account ${id} is named ${name}${nickname === null ? '' : `, nickname ${nickname}`}.\n`,
          );
        });
      },
    );

  account
    .command('list')
    .description('list accounts, oldest first')
    .option('--json', 'print JSON: an array of id, name, nickname')
    .addHelpText('after', '\nExample:\n  homeport account list --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      await withPlatform(command, async (_platform, { accounts }) => {
        const all = await accounts.listAll();
        if (json) return printJson(all);
        process.stdout.write(
          all.length === 0
            ? withOwnCommand('There are no accounts yet. Create one with "homeport account create".\n')
            : table(
                ['ID', 'NAME'],
                all.map(({ id, name }) => [id, name]),
              ),
        );
      });
    });
}

/** A name, or an empty text. */
const nicknameArgument = (text: string): string => (text === '' ? text : nameArgument(text));
