import type { Command } from 'commander';
import type { Roles } from '../homeport.ts';
import { OperatorError } from '../operator-error.ts';
import { configOf } from './configuration.ts';

interface Options {
  demo?: boolean;
  buildPortal?: boolean;
  only?: string;
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the API and the hosted sites, and carry out jobs')
    .option('--demo', 'fill the account with a few users, sites, installs and domains to look at')
    .option('--build-portal', 'first build the pages of the portal if they are missing or outdated')
    .option('--only <part>', 'run one part beside another process: api, or hosting (jobs, edge and SFTP)')
    .addHelpText('after', '\nExample:\n  homeport serve --demo')
    .action(async ({ demo = false, buildPortal = false, only }: Options, command: Command) => {
      const roles = rolesOf(only);
      const config = configOf(command);
      const { config: settings } = command.optsWithGlobals<{ config?: string }>();
      const { serve } = await import('./serving.ts');
      await serve(config, { settings, roles, demo, buildPortal });
    });
}

function rolesOf(only: string | undefined): Roles {
  if (only === undefined) return { api: true, hosting: true };
  if (only === 'api' || only === 'hosting') return { api: only === 'api', hosting: only === 'hosting' };
  throw new OperatorError(`--only takes api or hosting, not "${only}".`);
}
