import { isIPv6 } from 'node:net';
import { type Command, InvalidArgumentError } from 'commander';
import type { InstallName } from '../../features/hosts/install-names.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson } from '../terminal/output.ts';

/** The longest TTL: 31 bits (RFC 2181, section 8). */
const DEFAULT_TTL = 3600;
const LONGEST_TTL = 2 ** 31 - 1;

export function addHostRecords(host: Command): void {
  host
    .command('records')
    .summary('print DNS records of the default domains')
    .description(
      'print A and AAAA records of the default domains (<install>.<site domain>) as lines of a zone file (RFC 1035), by ' +
        'name. Each leads to the host of its install. Several hosts need these records; one host needs only a wildcard',
    )
    .argument('[name]', 'records of this host only')
    .option('--ttl <seconds>', 'how long resolvers may cache a record', ttlArgument, DEFAULT_TTL)
    .option('--json', 'print JSON: an array of name, ttl, type, address, install_id, host')
    .addHelpText('after', '\nExample:\n  homeport host records > /etc/nsd/installs.zone')
    .action(printRecords);
}

/** A resource record of a default domain, with its install and host. */
interface InstallRecord {
  name: string;
  ttl: number;
  type: 'A' | 'AAAA';
  address: string;
  install_id: string;
  host: string | null;
}

async function printRecords(
  host: string | undefined,
  { ttl, json }: { ttl: number; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async ({ database, config }, { hosts }) => {
    if (host !== undefined) await requireHost(hosts, host);
    const { installNames } = await import('../../features/hosts/install-names.ts');
    const names = (await installNames(database.reader, config))
      .filter((one) => host === undefined || one.host === host)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const records = names.flatMap((one) => recordsOf(one, ttl));
    if (json) printJson(records);
    else process.stdout.write(records.map(zoneLine).join(''));
    // Standard output holds records only, as it may be piped into a zone file.
    const without = names.filter(({ addresses }) => addresses.length === 0);
    if (without.length > 0) process.stderr.write(`homeport: ${whyMissing(without)}\n`);
  });
}

async function requireHost(hosts: { list(): Promise<{ name: string }[]> }, name: string): Promise<void> {
  if ((await hosts.list()).some((known) => known.name === name)) return;
  throw new OperatorError(`There is no host "${name}". List hosts with "homeport host list".`);
}

function recordsOf({ addresses, ...one }: InstallName, ttl: number): InstallRecord[] {
  return addresses.map((address) => ({
    name: one.name,
    ttl,
    type: isIPv6(address) ? 'AAAA' : 'A',
    address,
    install_id: one.install_id,
    host: one.host,
  }));
}

/** RFC 1035 section 5.1: owner, TTL, class, type and data; the final dot makes the name a whole one. */
function zoneLine({ name, ttl, type, address }: InstallRecord): string {
  return `${name}.\t${ttl}\tIN\t${type}\t${address}\n`;
}

function whyMissing(without: InstallName[]): string {
  const hosts = [...new Set(without.map(({ host }) => host))].filter((name) => name !== null);
  const [one] = hosts;
  const count =
    without.length === 1 ? '1 install has no record' : `${without.length} installs have no records`;
  const remedy =
    one === undefined
      ? 'set HOMEPORT_EDGE_ADDRESSES'
      : `set them with "homeport host change ${one} --edge-address <ip>"`;
  const where = one === undefined ? '' : ` of ${hosts.join(', ')}`;
  return `${count}: the edge addresses${where} are unknown; ${remedy}`;
}

function ttlArgument(text: string): number {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= LONGEST_TTL) return seconds;
  throw new InvalidArgumentError(`It must be a number of seconds from 0 to ${LONGEST_TTL}.`);
}
