import type { Command } from 'commander';
import type { Services } from '../../app/services.ts';
import type { Person } from '../../features/accounts/account-users/store.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { nameArgument } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** Adds the commands that help users who cannot sign in. */
export function addUserChangeCommands(user: Command): void {
  user
    .command('password-link')
    .summary('print a link to set a password')
    .description(
      'print a link to set a portal password. It works once, within 7 days, and replaces earlier links. ' +
        'Setting the password ends the sessions of the user',
    )
    .argument('<email>', 'the user ("homeport user list")')
    .addHelpText('after', '\nExample:\n  homeport user password-link frida@agency.example')
    .action(printPasswordLink);

  user
    .command('reset-second-factor')
    .summary('turn off a lost second factor')
    .description(
      'turn off the second factor of a user who lost it and every recovery code, remove their passkeys, and end their ' +
        'sessions. Verify first who asks',
    )
    .argument('<email>', 'the user ("homeport user list")')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport user reset-second-factor frida@agency.example')
    .action(resetSecondFactor);

  user
    .command('change')
    .summary('change the address, the name or the rights of a user')
    .description(
      'change the address or the name of a user, or make them an operator; a new address ends links sent by email',
    )
    .argument('<email>', 'the current address ("homeport user list")')
    .option('--email <address>', 'the new address')
    .option('--first-name <name>', 'first name', nameArgument)
    .option('--last-name <name>', 'last name', nameArgument)
    .option('--operator', 'may move the installs that they see to other hosts, by the API')
    .option('--no-operator', 'no longer')
    .addHelpText('after', '\nExample:\n  homeport user change owner@localhost --email frida@agency.example')
    .action(changeUser);
}

async function printPasswordLink(email: string, _options: object, command: Command) {
  await withPlatform(command, async (_platform, services) => {
    const person = await requirePerson(services, email);
    process.stdout.write(`${await services.passwords.createLink(person.id, 'first')}\n`);
  });
}

async function resetSecondFactor(email: string, { yes = false }: { yes?: boolean }, command: Command) {
  await withPlatform(command, async (_platform, services) => {
    const person = await requirePerson(services, email);
    if (!yes) {
      await requireConsent(
        `Turn off the second factor of ${person.email}? The password alone then signs them in.`,
        { effect: `The password alone then signs ${person.email} in.`, kept: 'Nothing was changed.' },
      );
    }
    const { hadFactor, passkeys } = await services.secondFactor.reset(person.id);
    const removed = passkeys === 0 ? '' : `, removed ${passkeys} ${passkeys === 1 ? 'passkey' : 'passkeys'}`;
    process.stdout.write(
      hadFactor
        ? `Turned off the second factor of ${person.email}${removed} and ended their sessions.\n`
        : `${person.email} has no second factor.\n`,
    );
  });
}

interface ChangeOptions {
  email?: string;
  firstName?: string;
  lastName?: string;
  operator?: boolean;
}

async function changeUser(
  known: string,
  { email, firstName, lastName, operator }: ChangeOptions,
  command: Command,
) {
  if ([email, firstName, lastName, operator].every((change) => change === undefined)) {
    throw new OperatorError('Name a change: --email, --first-name, --last-name or --operator.');
  }
  await withPlatform(command, async (_platform, services) => {
    const person = await requirePerson(services, known);
    const { parseChange } = await import('./checked-people.ts');
    const change = parseChange({
      ...(email === undefined ? {} : { email }),
      ...(firstName === undefined ? {} : { first_name: firstName }),
      ...(lastName === undefined ? {} : { last_name: lastName }),
    });
    const changed = await services.profile.changeByOperator(person.id, {
      ...change,
      ...(operator === undefined ? {} : { is_operator: operator }),
    });
    const right = operator === undefined ? '' : operator ? ', an operator' : ', no operator';
    process.stdout.write(`Changed: ${changed.first_name} ${changed.last_name}, ${changed.email}${right}.\n`);
  });
}

async function requirePerson({ accountUsers }: Services, email: string): Promise<Person> {
  const person = await accountUsers.findPerson(email);
  if (person) return person;
  throw new OperatorError(
    `There is no user with the address ${email}. List users with "homeport user list".`,
  );
}
