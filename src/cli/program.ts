import { Command } from 'commander';
import { addAccountCommands } from './commands/accounts.ts';
import { addApiCommand } from './commands/api.ts';
import { addBackupCommands } from './commands/backups.ts';
import { addCredentialCommands } from './commands/credentials.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInstallCommands } from './commands/installs.ts';
import { addJobCommands } from './commands/jobs.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addPlatformCommands } from './commands/platform.ts';
import { addRolloutCommands } from './commands/rollouts.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSiteCommands } from './commands/sites.ts';
import { addSupportBundleCommand } from './commands/support-bundle.ts';
import { addUpgradeCommand } from './commands/upgrade.ts';
import { addUserCommands } from './commands/users.ts';
import { addHostCommand } from './host/index.ts';
import { addOperatorCommands } from './operator/declare.ts';
import { versionLine } from './platform/version.ts';
import { HELP_OUTPUT } from './terminal/output.ts';

/**
 * The command line. All commands are declared for the help. A command imports its dependencies in its action
 * (`await import(…)`), so that it does not load those of others. `ownSettings`: the settings file without `--config`.
 */
export function createProgram(ownSettings: () => string | undefined = () => undefined): Command {
  const program = new Command('homeport')
    .description('A self-hosted hosting platform.')
    .version(versionLine(), '-V, --version', 'print the version, the commit and the schema of the database')
    .option('--config <file>', 'settings file with lines of NAME=value; the environment takes precedence')
    .configureHelp({ subcommandTerm: termOf, minWidthToWrap: 30 })
    .showHelpAfterError('(see homeport --help)')
    .configureOutput(HELP_OUTPUT)
    .hook('preAction', (self) => {
      if (self.getOptionValue('config') === undefined) self.setOptionValue('config', ownSettings());
    });
  addServeCommand(program);
  addMigrateCommand(program);
  addAccountCommands(program);
  addUserCommands(program);
  addCredentialCommands(program);
  addSiteCommands(program);
  addInstallCommands(program);
  program.command('domain').description('manage domains of installs as the operator');
  addBackupCommands(program);
  program.command('operation').description('see, cancel and repeat operations');
  addHostCommand(program);
  addRolloutCommands(program);
  addJobCommands(program);
  addPlatformCommands(program);
  addDoctorCommand(program);
  addSupportBundleCommand(program);
  addUpgradeCommand(program);
  addApiCommand(program);
  addMcpCommand(program);
  for (const group of program.commands) addOperatorCommands(group);
  nameOwnHelp(program, program.name());
  return program;
}

/** Shows a command in the help of its group with its name and required arguments only. */
function termOf(command: Command): string {
  const needed = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), ...needed].join(' ');
}

/** After a wrong word, each command names its own help. */
function nameOwnHelp(command: Command, words: string): void {
  command.showHelpAfterError(`(see ${words} --help)`);
  for (const inner of command.commands) nameOwnHelp(inner, `${words} ${inner.name()}`);
}
