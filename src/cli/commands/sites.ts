import type { Command } from 'commander';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';
import { namedAccount } from './named-account.ts';

const repeated = (tag: string, tags: string[]): string[] => [...tags, tag];

export function addSiteCommands(program: Command): void {
  const site = program.command('site').description('manage sites as the operator');

  site
    .command('list')
    .description('list sites with their tags, by name')
    .option('--account <account>', 'sites of this account only: its name or id')
    .option('--tag <tag>', 'sites with this tag only')
    .option('--json', 'print JSON: an array of id, name, tags, account (id, name), created_at')
    .addHelpText('after', '\nExample:\n  homeport site list --tag "Monthly care"')
    .action(listSites);

  site
    .command('tag')
    .summary('show, add and remove the tags of a site')
    .description(
      'show the tags of a site, after adding and removing some. Its installs have them, too. The activity of the account records the change',
    )
    .argument('<name>', 'name or id of the site')
    .option('--account <account>', 'its account, if several have a site of this name: name or id')
    .option('--add <tag>', 'add this tag; can be repeated', repeated, [])
    .option('--remove <tag>', 'remove this tag; can be repeated', repeated, [])
    .option('--json', 'print JSON: id, name, tags')
    .addHelpText('after', '\nExample:\n  homeport site tag "Harbour Cafe" --add "Monthly care" --remove new')
    .action(tagSite);
}

interface Asked {
  account?: string;
  json?: boolean;
}

async function listSites({ account, tag, json }: Asked & { tag?: string }, command: Command): Promise<void> {
  await withPlatform(command, async ({ database }, { accounts }) => {
    const of = account === undefined ? null : namedAccount(await accounts.listAll(), account);
    const { everySite } = await import('../../features/websites/tags/every-site-store.ts');
    const { keyOf, readTag } = await import('../../features/websites/site-tags/tag-keys.ts');
    const key = tag === undefined ? null : keyOf(readTag(tag));
    const all = await everySite(database.reader, { accountId: of?.id ?? null, key });
    if (json) return printJson(all);
    process.stdout.write(
      all.length === 0
        ? 'There are no such sites.\n'
        : table(
            ['NAME', 'TAGS', 'ACCOUNT', 'ID'],
            all.map((site) => [site.name, site.tags.join(', ') || '-', site.account.name, site.id]),
          ),
    );
  });
}

async function tagSite(
  name: string,
  { account, add, remove, json }: Asked & { add: string[]; remove: string[] },
  command: Command,
): Promise<void> {
  await withPlatform(command, async ({ database }, { accounts, tags }) => {
    const of = account === undefined ? null : namedAccount(await accounts.listAll(), account);
    const { everySite } = await import('../../features/websites/tags/every-site-store.ts');
    const id = parseUuid(name);
    const meant = (await everySite(database.reader, { accountId: of?.id ?? null, key: null })).filter(
      (site) => (id === undefined ? site.name === name : site.id === id),
    );
    const [site] = meant;
    if (!site) {
      throw new OperatorError(`There is no site "${printable(name)}"; list them with "homeport site list".`);
    }
    if (meant.length > 1) {
      throw new OperatorError(
        `There are ${meant.length} sites named "${printable(name)}". Use the id of one ("homeport site list").`,
      );
    }
    const change = { add, remove };
    const changed =
      add.length + remove.length === 0
        ? site.tags
        : await tags.changeByOperator(site.account.id, site.id, change);
    if (json) return printJson({ id: site.id, name: site.name, tags: changed });
    process.stdout.write(
      changed.length === 0
        ? `${printable(site.name)} has no tags.\n`
        : `${printable(site.name)}: ${changed.map(printable).join(', ')}\n`,
    );
  });
}
