import { type Command, InvalidArgumentError } from 'commander';
import type { Person } from '../../features/accounts/account-users/store.ts';
import type { MemberView } from '../../features/accounts/account-users/view.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { formatRoles, ROLE_INPUTS, type RoleInput } from '../../lib/roles.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect, nameArgument } from '../terminal/arguments.ts';
import { printable, printJson, table } from '../terminal/output.ts';
import { namedAccount } from './named-account.ts';
import { addUserChangeCommands } from './user-changes.ts';

interface CreateOptions {
  account: string;
  email: string;
  firstName: string;
  lastName: string;
  roles: RoleInput;
  install?: string[];
  invite?: boolean;
  json?: boolean;
}

/** Some roles contain a comma, so the separator is another one. */
const ROLE_CHOICES = ROLE_INPUTS.join(' | ');

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('manage users and their roles');

  user
    .command('create')
    .summary('add a user to an account')
    .description(
      'add a user to an account. A user with a known address keeps their name. ' +
        'Give access to the API with "homeport credential create"',
    )
    .requiredOption('--account <account>', 'the account: its name or id')
    .requiredOption('--email <address>', 'email address of the user')
    .requiredOption('--first-name <name>', 'first name', nameArgument)
    .requiredOption('--last-name <name>', 'last name', nameArgument)
    .requiredOption('--roles <roles>', `roles in the account: ${ROLE_CHOICES}`, rolesArgument)
    .option('--install <name>', 'an install for a partial user (repeatable)', collect)
    .option('--invite', 'send an invitation by email, instead of accepting it')
    .option(
      '--json',
      'print JSON: user_id, account_id, email, first_name, last_name, roles, invite_accepted, installs',
    )
    .addHelpText(
      'after',
      '\nExample:\n  homeport user create --account "Harbour Agency" --email frida@agency.example \\\n' +
        '    --first-name Frida --last-name Full --roles full,billing',
    )
    .action(createUser);

  user
    .command('list')
    .description('list users with their accounts, oldest first')
    .option('--account <account>', 'users of this account only: its name or id')
    .option(
      '--json',
      'print JSON: an array of id, email, first_name, last_name, is_operator, accounts (id, name, roles, invite_accepted)',
    )
    .addHelpText('after', '\nExample:\n  homeport user list')
    .action(listUsers);

  addUserChangeCommands(user);
}

function rolesArgument(text: string): RoleInput {
  const roles = ROLE_INPUTS.find((choice) => choice === text);
  if (roles === undefined) throw new InvalidArgumentError(`It must be one of: ${ROLE_CHOICES}.`);
  return roles;
}

async function createUser(options: CreateOptions, command: Command): Promise<void> {
  const { email, firstName, lastName, roles, install = [], invite = false, json } = options;
  await withPlatform(command, async ({ database, clock }, { accounts, accountUsers }) => {
    if (install.length > 0 && !roles.startsWith('partial')) {
      throw new OperatorError(
        `--install is for partial users; --roles ${roles} sees every install of the account.`,
      );
    }
    const account = namedAccount(await accounts.listAll(), options.account);
    const { parseUser } = await import('./checked-people.ts');
    const { user } = parseUser({
      user: { account_id: account.id, email, first_name: firstName, last_name: lastName, roles },
    });
    const made = await accountUsers.addByOperator(user, { installNames: install, invite });
    if (json) return printJson(memberJson(made));
    process.stdout.write(
      `Added ${made.email} (${made.user_id}) to ${printable(account.name)}: ${formatRoles(made)}.\n`,
    );
    if (!invite) return;
    const { presentWorkers } = await import('../platform/present-workers.ts');
    const working = (await presentWorkers(database, clock)).length > 0;
    process.stdout.write(
      working
        ? 'The invitation is queued.\n'
        : withOwnCommand('The invitation will be sent when a server runs ("homeport serve").\n'),
    );
  });
}

async function listUsers({ account, json }: { account?: string; json?: boolean }, command: Command) {
  await withPlatform(command, async (_platform, { accounts, accountUsers }) => {
    const of = account === undefined ? undefined : namedAccount(await accounts.listAll(), account);
    const people = await accountUsers.listPeople(of?.id);
    if (json) return printJson(people.map(personJson));
    process.stdout.write(
      people.length === 0
        ? withOwnCommand('There are no users yet. Add one with "homeport user create".\n')
        : table(['EMAIL', 'NAME', 'ROLES', 'ACCOUNT', 'ACCOUNT ID'], people.flatMap(personRows)),
    );
  });
}

/** A line for each account of a user, and one for a user without accounts. */
function personRows({ email, first_name, last_name, is_operator, accounts }: Person): string[][] {
  const name = `${first_name} ${last_name}${is_operator ? ' (operator)' : ''}`;
  if (accounts.length === 0) return [[email, name, '-', '-', '-']];
  return accounts.map((account) => [
    email,
    name,
    account.invite_accepted ? formatRoles(account) : `${formatRoles(account)} (invited)`,
    account.name,
    account.id,
  ]);
}

function personJson({ accounts, ...person }: Person) {
  return {
    ...person,
    accounts: accounts.map(({ id, name, invite_accepted, ...role }) => ({
      id,
      name,
      roles: formatRoles(role),
      invite_accepted,
    })),
  };
}

function memberJson(member: MemberView) {
  const { user_id, account_id, email, first_name, last_name, invite_accepted, installs } = member;
  const roles = formatRoles(member);
  return { user_id, account_id, email, first_name, last_name, roles, invite_accepted, installs };
}
