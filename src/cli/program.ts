import { Command } from 'commander';
import { addAccountCommands } from './accounts.ts';
import { addBackupCommands } from './backups.ts';
import { addCredentialCommands } from './credentials.ts';
import { addDoctorCommand } from './doctor.ts';
import { addHostCommand } from './host/index.ts';
import { addInstallCommands } from './installs.ts';
import { addMigrateCommand } from './migrate.ts';
import { addServeCommand } from './serve.ts';
import { addUserCommands } from './users.ts';
import { version } from './version.ts';

/** The whole command line. */
export function createProgram(): Command {
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
  addInstallCommands(program);
  addBackupCommands(program);
  addHostCommand(program);
  addDoctorCommand(program);
  return program;
}
