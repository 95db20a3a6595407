import type { Command } from 'commander';

/** Adds the command for a host that serves websites that this database does not know. */
export function addHostAdopt(host: Command): void {
  host
    .command('adopt')
    .summary('assign a host to this platform')
    .description(
      'assign a host to this platform, if it belongs to another one or the database knows none of its websites. The host stops serving ' +
        'every website that the database does not know, and keeps their data ("homeport install orphans")',
    )
    .argument('[name]', 'the host; none with HOMEPORT_HOST=embedded')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host adopt web2')
    .action(async (name: string | undefined, options: { yes?: boolean }, command: Command) => {
      const { adoptHost } = await import('./adopt-host.ts');
      await adoptHost(name, options, command);
    });
}
