import { Command } from 'commander';
import { addAccountCommands } from './commands/accounts.ts';
import { addBackupCommands } from './commands/backups.ts';
import { addCredentialCommands } from './commands/credentials.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInstallCommands } from './commands/installs.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addPlatformCommands } from './commands/platform.ts';
import { addServeCommand } from './commands/serve.ts';
import { addUserCommands } from './commands/users.ts';
import { addHostCommand } from './host/index.ts';
import { version } from './platform/version.ts';

/**
 * The whole command line. For its help all commands are declared, and one of them works: what a command works with, it
 * imports in its action (`await import(…)`), so that none waits for what only others need, the server least of all.
 */
export function createProgram(): Command {
  const program = new Command('homeport')
    .description('A self-hosted hosting platform.')
    .version(version)
    .option('--config <file>', 'settings file, lines of NAME=value; the environment goes before it')
    .configureHelp({ subcommandTerm: termOf })
    .showHelpAfterError('(homeport --help says what there is)');
  addServeCommand(program);
  addMigrateCommand(program);
  addAccountCommands(program);
  addUserCommands(program);
  addCredentialCommands(program);
  addInstallCommands(program);
  addBackupCommands(program);
  addHostCommand(program);
  addPlatformCommands(program);
  addDoctorCommand(program);
  nameOwnHelp(program, program.name());
  return program;
}

/** A command in the help of its group: its name and what it needs, so that what it does has room beside it. */
function termOf(command: Command): string {
  const needed = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...needed].join(' ');
}

/** After a wrong word, each command names its own help. */
function nameOwnHelp(command: Command, words: string): void {
  command.showHelpAfterError(`(${words} --help says what there is)`);
  for (const inner of command.commands) nameOwnHelp(inner, `${words} ${inner.name()}`);
}
