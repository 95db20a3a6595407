import { type Command, Option } from 'commander';
import type { Roles } from '../../app/homeport.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { configOf } from '../platform/configuration.ts';
import { createWaitProgress } from '../terminal/wait-progress.ts';

interface Options {
  demo?: boolean;
  buildPortal?: boolean;
  only?: string;
  unsupervised?: boolean;
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the API and the sites, and run jobs')
    .option('--demo', 'create sample users, sites, installs and domains')
    .option(
      '--build-portal',
      'build the portal first if it is missing or outdated, and the program afterwards',
    )
    .option('--only <part>', 'run one part only: api, or hosting (jobs, edge and SFTP)')
    // For the supervisor, which starts the server with it.
    .addOption(new Option('--unsupervised').hideHelp())
    .addHelpText('after', '\nExample:\n  homeport serve --demo')
    .action(async (options: Options, command: Command) => {
      const { demo = false, buildPortal = false, unsupervised = false, only } = options;
      const roles = rolesOf(only);
      const config = configOf(command);
      const onTerminal = process.stderr.isTTY && !unsupervised;
      const loading = createWaitProgress('Homeport is starting', process.stderr);
      if (onTerminal) loading.begin();
      const { config: settings } = command.optsWithGlobals<{ config?: string }>();
      // A first start compiles the sources, which takes seconds.
      const { serve } = await import('./serving.ts').finally(loading.end);
      if (onTerminal) process.stderr.write('Homeport is starting.\n');
      await serve(config, { settings, roles, demo, buildPortal, unsupervised });
    });
}

function rolesOf(only: string | undefined): Roles {
  if (only === undefined) return { api: true, hosting: true };
  if (only === 'api' || only === 'hosting') return { api: only === 'api', hosting: only === 'hosting' };
  throw new OperatorError(`--only takes api or hosting, not "${only}".`);
}
