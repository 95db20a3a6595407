import { Command } from 'commander';
import { addAccountCommands } from './cli/accounts.ts';
import { addBackupCommands } from './cli/backups.ts';
import { addCredentialCommands } from './cli/credentials.ts';
import { addDoctorCommand } from './cli/doctor.ts';
import { addMigrateCommand } from './cli/migrate.ts';
import { addServeCommand } from './cli/serve.ts';
import { addUserCommands } from './cli/users.ts';
import { version } from './cli/version.ts';
import { OperatorError } from './operator-error.ts';

const program = new Command('homeport')
  .description('A self-hosted hosting platform.')
  .version(version)
  .option('--config <file>', 'settings file, lines of NAME=value; the environment goes before it')
  .showHelpAfterError('(homeport --help says what there is)')
  .enablePositionalOptions();

addServeCommand(program);
addMigrateCommand(program);
addAccountCommands(program);
addUserCommands(program);
addCredentialCommands(program);
addBackupCommands(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  // What its operator can mend is one line; anything else is a fault of ours, and needs its stack.
  if (error instanceof OperatorError) process.stderr.write(`homeport: ${error.message}\n`);
  else process.stderr.write(`homeport: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
