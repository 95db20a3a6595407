import type { Command } from 'commander';
import type { HostView } from '../../features/hosts/service.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson, shownTime, table } from '../terminal/output.ts';

export function addHostList(host: Command): void {
  host
    .command('list')
    .description('list hosts with installs, capacity and versions, as a running server saw them last')
    .option(
      '--json',
      'print JSON: an array of id, name, address, public_name, edge_addresses, labels, reserved, accepting, installs, capacity, php_versions, wordpress_versions, machine (processors, load, memory and disk in bytes; null if unknown), seen_at, reason, lost_at',
    )
    .addHelpText('after', '\nExample:\n  homeport host list')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      await withPlatform(command, async (_platform, { hosts }) => {
        const all = await hosts.list();
        if (json) return printJson(all.map(hostJson));
        process.stdout.write(
          all.length === 0
            ? withOwnCommand(
                'There are no hosts yet. "homeport serve" registers the host of this machine (HOMEPORT_HOST=linux). ' +
                  'Add another one with "homeport host add".\n',
              )
            : table(
                [
                  'NAME',
                  'ADDRESS',
                  'PUBLIC NAME',
                  'EDGE ADDRESSES',
                  'LABELS',
                  'INSTALLS',
                  'LOAD',
                  'FREE',
                  'PHP',
                  'WORDPRESS',
                  'SEEN',
                  'STATE',
                ],
                all.map((known) => [
                  known.name,
                  known.address,
                  known.public_name ?? '-',
                  known.edge_addresses.join(' ') || '-',
                  known.labels.join(' ') || '-',
                  `${known.installs} of ${known.description?.capacity ?? '?'}`,
                  ...leftOf(known),
                  known.description?.phpVersions.join(' ') || '-',
                  known.description?.wordpressVersions.join(' ') || '-',
                  shownTime(known.seen_at, 'never'),
                  stateOf(known),
                ]),
              ),
        );
      });
    });
}

/** The load, and what is free. Hosts of earlier versions do not say it. */
function leftOf({ description }: HostView): [load: string, free: string] {
  const machine = description?.machine;
  if (machine === undefined) return ['-', '-'];
  const { memory, disk, load, processors } = machine;
  const percent = ({ free, total }: typeof memory) =>
    total === 0 ? '-' : `${Math.floor((100 * free) / total)} %`;
  return [`${load.toFixed(1)} of ${processors}`, `${percent(memory)} memory, ${percent(disk)} disk`];
}

function stateOf({ reason, accepting, reserved, seen_at, lost_at }: HostView): string {
  if (lost_at !== null) return `given up as lost at ${shownTime(lost_at, '')}`;
  if (reason !== null) return reason;
  if (seen_at === null) return 'not seen yet';
  if (!accepting) return 'drained: takes no new installs';
  return reserved ? 'takes new installs of accounts with its labels' : 'takes new installs';
}

function hostJson(known: HostView) {
  const { id, name, address, public_name, edge_addresses, labels, reserved, accepting, installs } = known;
  const { description, seen_at, reason, lost_at } = known;
  return {
    id,
    name,
    address,
    public_name,
    edge_addresses,
    labels,
    reserved,
    accepting,
    installs,
    capacity: description?.capacity ?? null,
    php_versions: description?.phpVersions ?? [],
    wordpress_versions: description?.wordpressVersions ?? [],
    machine: description?.machine ?? null,
    seen_at,
    reason,
    lost_at,
  };
}
