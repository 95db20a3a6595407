import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';

/** Adds `install capabilities`. */
export function addInstallCapabilities(install: Command): void {
  install
    .command('capabilities')
    .summary('show what the host of an install does for it')
    .description(
      'show what the host of an install does for it, such as logs, WP-CLI and updates, and for each thing that it does not do, why not ' +
        'and how to get it. Commands that need what is not available refuse with the same words',
    )
    .argument('<name>', 'the install')
    .option('--json', 'print JSON: an array of name, title, available, reason, remedy')
    .addHelpText('after', '\nExample:\n  homeport install capabilities harbourcafe')
    .action(showCapabilities);
}

async function showCapabilities(name: string, { json }: { json?: boolean }, command: Command) {
  await withPlatform(command, async (_platform, services) => {
    const { presentCapabilities } = await import('../../features/websites/capabilities/routes.ts');
    const { capabilities } = presentCapabilities(await services.capabilities.listByName(name));
    if (json) return printJson(capabilities);
    process.stdout.write(
      table(
        ['CAPABILITY', 'AVAILABLE', 'WHAT IT IS'],
        capabilities.map((one) => [one.name, one.available ? 'yes' : 'no', one.title]),
      ),
    );
    const lacking = capabilities.filter(({ available }) => !available);
    const lines = lacking.map(({ name: of, reason, remedy }) => `${of}: ${printable(`${reason} ${remedy}`)}`);
    if (lines.length > 0) process.stdout.write(`\n${lines.join('\n')}\n`);
  });
}
