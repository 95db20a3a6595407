import type { Command } from 'commander';

/** For a host that refused to stop serving what this database does not know. */
export function addHostAdopt(host: Command): void {
  host
    .command('adopt')
    .summary('let a host belong to this platform, and serve only what its database knows')
    .description(
      'let a host belong to this platform, which it refused because it belongs to another one or because the database knows none ' +
        'of its websites. It stops serving every website that the database does not know; their data is kept ("homeport install orphans")',
    )
    .argument('[name]', 'the host; none with HOMEPORT_HOST=embedded')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host adopt web2')
    .action(async (name: string | undefined, options: { yes?: boolean }, command: Command) => {
      const { adoptHost } = await import('./adopt-host.ts');
      await adoptHost(name, options, command);
    });
}
