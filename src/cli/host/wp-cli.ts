import { type Command, InvalidArgumentError } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson } from '../terminal/output.ts';

const ELSEWHERE = 'To use a file, set HOMEPORT_WP_CLI_SOURCE on that machine.';

export function addHostWpCli(host: Command): void {
  host
    .command('wp-cli')
    .summary('fetch the newest WP-CLI on a host')
    .description(
      'fetch the newest WP-CLI on a host, from its configured source or from the official one. It replaces the present version for ' +
        'all installs of the host. A host without WP-CLI also fetches it automatically',
    )
    .argument('<name>', 'the host')
    .argument('[source]', '"official"', parseSource)
    .option('--json', 'print JSON: host, version')
    .addHelpText('after', `\n${ELSEWHERE}\n\nExample:\n  homeport host wp-cli web2`)
    .action(fetchWpCli);
}

function parseSource(text: string): 'official' {
  if (text === 'official') return text;
  throw new InvalidArgumentError(`It must be "official". ${ELSEWHERE}`);
}

async function fetchWpCli(
  name: string,
  source: 'official' | undefined,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { hosts }) => {
    const { askHost } = await import('../platform/ask-host.ts');
    const version = await askHost(await hosts.target(name), (remote) => remote.addWpCli(source ?? null));
    if (json) return printJson({ host: name, version });
    process.stdout.write(`${name} has WP-CLI ${version}.\n`);
  });
}
