import { type Command, InvalidArgumentError } from 'commander';
import { WORDPRESS_SOURCES } from '../../hosting/contract/choices.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson } from '../terminal/output.ts';

const SOURCES: readonly string[] = WORDPRESS_SOURCES;
const NAMED = SOURCES.map((name) => `"${name}"`).join(' or ');
const ELSEWHERE = 'To use a folder or an archive, set HOMEPORT_WORDPRESS_SOURCE on that machine.';

export function addHostWordpress(host: Command): void {
  host
    .command('wordpress')
    .summary('fetch the newest WordPress on a host')
    .description(
      'fetch the newest WordPress on a host, from its configured source or another one. Earlier versions stay. New installs ' +
        'get the newest version; switch others with "homeport install wordpress"',
    )
    .argument('<name>', 'the host')
    .argument('[source]', NAMED, parseSource)
    .option('--json', 'print JSON: host, version')
    .addHelpText('after', `\n${ELSEWHERE}\n\nExample:\n  homeport host wordpress web2`)
    .action(fetchWordpress);
}

function parseSource(text: string): string {
  if (SOURCES.includes(text)) return text;
  throw new InvalidArgumentError(`It must be ${NAMED}. ${ELSEWHERE}`);
}

async function fetchWordpress(
  name: string,
  source: string | undefined,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { hosts }) => {
    const { askHost } = await import('../platform/ask-host.ts');
    const version = await askHost(await hosts.target(name), async (remote) => {
      const added = await remote.addWordpress(source ?? null);
      await hosts.note(await remote.describe());
      return added;
    });
    if (json) return printJson({ host: name, version });
    process.stdout.write(`${name} has WordPress ${version}.\n`);
  });
}
