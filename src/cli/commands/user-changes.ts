import type { Command } from 'commander';
import type { Services } from '../../app/services.ts';
import type { Person } from '../../features/accounts/account-users/store.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { nameArgument } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** What an operator does for people who cannot help themselves. */
export function addUserChangeCommands(user: Command): void {
  user
    .command('password-link')
    .summary('print a link with which a person sets a password')
    .description(
      'print a link with which a person sets a password for the portal, once, within 7 days; earlier links stop working, ' +
        'and setting it ends their sessions',
    )
    .argument('<email>', 'whose password it is ("homeport user list")')
    .addHelpText('after', '\nExample:\n  homeport user password-link frida@agency.example')
    .action(printPasswordLink);

  user
    .command('reset-second-factor')
    .summary('for whoever has lost their second factor and every recovery code')
    .description(
      'switch off the second factor of a person who has lost theirs and every recovery code, and end their sessions. Be ' +
        'sure that it is they who ask',
    )
    .argument('<email>', 'whose it is ("homeport user list")')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport user reset-second-factor frida@agency.example')
    .action(resetSecondFactor);

  user
    .command('change')
    .summary('change the address or the name of a person')
    .description('change the address or the name of a person; links that were mailed to them stop working')
    .argument('<email>', 'by which they are known now ("homeport user list")')
    .option('--email <address>', 'by which they are known from now on')
    .option('--first-name <name>', 'first name', nameArgument)
    .option('--last-name <name>', 'last name', nameArgument)
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
        `Switch off the second factor of ${person.email}, so that the password alone lets them in?`,
        { effect: `With that, the password alone lets ${person.email} in.`, kept: 'Nothing was changed.' },
      );
    }
    const reset = await services.secondFactor.reset(person.id);
    process.stdout.write(
      reset
        ? `The second factor of ${person.email} is switched off, and their sessions have ended.\n`
        : `${person.email} has no second factor.\n`,
    );
  });
}

interface ChangeOptions {
  email?: string;
  firstName?: string;
  lastName?: string;
}

async function changeUser(known: string, { email, firstName, lastName }: ChangeOptions, command: Command) {
  if (email === undefined && firstName === undefined && lastName === undefined) {
    throw new OperatorError('Say what to change: --email, --first-name or --last-name.');
  }
  await withPlatform(command, async (_platform, services) => {
    const person = await requirePerson(services, known);
    const { parseChange } = await import('./checked-people.ts');
    const change = parseChange({
      ...(email === undefined ? {} : { email }),
      ...(firstName === undefined ? {} : { first_name: firstName }),
      ...(lastName === undefined ? {} : { last_name: lastName }),
    });
    const changed = await services.profile.changeByOperator(person.id, change);
    process.stdout.write(`Changed: ${changed.first_name} ${changed.last_name}, ${changed.email}.\n`);
  });
}

async function requirePerson({ accountUsers }: Services, email: string): Promise<Person> {
  const person = await accountUsers.findPerson(email);
  if (person) return person;
  throw new OperatorError(`There is nobody with the address ${email}; "homeport user list" shows everybody.`);
}
