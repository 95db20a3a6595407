import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';
import { printJson } from '../terminal/output.ts';
import { namedAccount } from './named-account.ts';

interface PlacementOptions {
  label?: string[];
  /** False removes them. */
  labels: boolean;
  json?: boolean;
}

/** `homeport account placement`. */
export function addAccountPlacementCommand(account: Command): void {
  account
    .command('placement')
    .summary('show or set which hosts an account gets')
    .description(
      'show or set the labels that a host needs to get new installs of an account. Present installs stay where they are; ' +
        '"homeport host rebalance --dry-run" shows those that should move',
    )
    .argument('<account>', 'its name or id')
    .option(
      '--label <word>',
      'a label of hosts, in place of the current ones; repeatable: all are needed',
      collect,
    )
    .option('--no-labels', 'any host that is not reserved')
    .option('--json', 'print JSON: labels')
    .addHelpText('after', '\nExample:\n  homeport account placement "Harbour Agency" --label ssd')
    .action(async (text: string, { label, labels, json }: PlacementOptions, command: Command) => {
      if (label !== undefined && !labels) throw new OperatorError('Use either --label or --no-labels.');
      const wanted = labels ? label : [];
      const { labelsOfAccount } = await import('../../features/hosts/placement-store.ts');
      const { placeAccount } = await import('../../features/hosts/placement-service.ts');
      await withPlatform(command, async (platform, { accounts, hosts }) => {
        const { id, name } = namedAccount(await accounts.listAll(), text);
        const now =
          wanted === undefined
            ? await labelsOfAccount(platform.database.reader, id)
            : await placeAccount(platform, id, wanted);
        if (json) return printJson({ labels: now });
        const known = new Set((await hosts.list()).flatMap((host) => host.labels));
        const unknown = now.filter((one) => !known.has(one));
        process.stdout.write(
          now.length === 0
            ? `New installs of ${name} go to any host that is not reserved.\n`
            : `New installs of ${name} go to hosts with the label${now.length === 1 ? '' : 's'} ${now.join(' and ')}.\n`,
        );
        for (const one of unknown) {
          process.stdout.write(
            withOwnCommand(
              `No host has the label ${one} yet. Give it to one with "homeport host change NAME --label ${one}".\n`,
            ),
          );
        }
      });
    });
}
