import type { AddressRange } from '../../../config/settings/setting-values.ts';
import { CommandError, runCommand } from '../machine/run-command.ts';
import { type FirewallPolicy, firewallRules, nameserversIn, tableName } from './firewall-rules.ts';
import { readSystemFile } from './system-file.ts';

/** What keeps the processes of installs from connecting to the machine itself and to private networks. */
export interface Firewall {
  /** Brings the rules into force, all at once. They stay when the host ends, and go with a restart of the machine. */
  ensure(): Promise<void>;
  /** What is wrong, one sentence; null if exactly these rules are in force. */
  check(): Promise<string | null>;
  /** Takes the rules away. Removing what is not there is success. */
  remove(): Promise<void>;
}

export interface FirewallOptions {
  instance: string;
  uids: { first: number; last: number };
  edgePorts: readonly number[];
  allowed: readonly AddressRange[];
  /** Names the DNS servers that websites may ask. Read at each call, for it changes. */
  resolvConf?: string;
  /** What comes before a command: `ip netns exec <name>` for the network of a test. */
  within?: readonly string[];
}

const NFT = '/usr/sbin/nft';

/** Loads rules from the standard input and shows what became of them: nft writes them otherwise than it was told them. */
const LOAD_AND_LIST = `system("${NFT}", "-f", "-") == 0 or exit 1; exec "${NFT}", "list", "table", "inet", @ARGV`;

export function createFirewall(options: FirewallOptions): Firewall {
  const { resolvConf = '/etc/resolv.conf', within = [], ...fixed } = options;
  const table = tableName(options.instance);

  async function rules(): Promise<string> {
    const policy: FirewallPolicy = { ...fixed, nameservers: nameserversIn(await readSystemFile(resolvConf)) };
    return firewallRules(policy);
  }

  async function run(command: readonly string[], input = ''): Promise<string> {
    const [program = NFT, ...args] = [...within, ...command];
    return (await runCommand(program, args, { input })).stdout;
  }

  /** Null if there are none. */
  async function inForce(): Promise<string | null> {
    try {
      return await run([NFT, 'list', 'table', 'inet', table]);
    } catch (error) {
      if (error instanceof CommandError && error.stderr.includes('No such file or directory')) return null;
      throw error;
    }
  }

  /** The same listing of the rules that should be, from a network of its own that is gone at once. */
  async function wanted(): Promise<string> {
    const load = ['/usr/bin/unshare', '--net', '/usr/bin/perl', '-e', LOAD_AND_LIST, table];
    return run(load, await rules());
  }

  async function check(): Promise<string | null> {
    const present = await inForce();
    if (present === null)
      return `the firewall table "inet ${table}" is not there: websites may connect anywhere`;
    if (present === (await wanted())) return null;
    return `the firewall table "inet ${table}" is not as it should be`;
  }

  return {
    check,
    async ensure() {
      if ((await check()) !== null) await run([NFT, '-f', '-'], await rules());
    },
    async remove() {
      await run([NFT, '-f', '-'], `table inet ${table} {}\ndelete table inet ${table}\n`);
    },
  };
}
