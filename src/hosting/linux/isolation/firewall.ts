import type { AddressRange } from '../../../config/settings/setting-values.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { type FirewallPolicy, firewallRules, nameserversIn, tableName } from './firewall-rules.ts';
import { readSystemFile } from './system-file.ts';

/** Keeps the processes of installs from connecting to the machine itself and to private networks. */
export interface Firewall {
  /** Loads the rules in one transaction. They outlive the host process, but not a restart of the machine. */
  ensure(): Promise<void>;
  /** What is wrong, in one sentence; null if exactly these rules are loaded. */
  check(): Promise<string | null>;
  /** Removes the rules. Succeeds if they are missing. */
  remove(): Promise<void>;
}

export interface FirewallOptions {
  instance: string;
  uids: { first: number; last: number };
  edgePorts: readonly number[];
  allowed: readonly AddressRange[];
  /** Lists the DNS servers that websites may use. Read at each call, because it changes. */
  resolvConf?: string;
  /** Prefix of each command: `ip netns exec <name>` for a test's network. */
  within?: readonly string[];
}

const NFT = '/usr/sbin/nft';

/** Loads rules from standard input and lists them: nft prints rules in another form than it reads them. */
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

  /** The loaded rules as nft lists them; null without a table. */
  async function loadedRules(): Promise<string | null> {
    try {
      return await run([NFT, 'list', 'table', 'inet', table]);
    } catch (error) {
      if (error instanceof CommandError && error.stderr.includes('No such file or directory')) return null;
      throw error;
    }
  }

  /** How nft lists the wanted rules. They are loaded into a network namespace that exists only for this. */
  async function wantedRules(): Promise<string> {
    const load = ['/usr/bin/unshare', '--net', '/usr/bin/perl', '-e', LOAD_AND_LIST, table];
    return run(load, await rules());
  }

  async function check(): Promise<string | null> {
    const present = await loadedRules();
    if (present === null)
      return `the firewall table "inet ${table}" is missing: websites may connect anywhere`;
    if (present === (await wantedRules())) return null;
    return `the firewall table "inet ${table}" has the wrong rules`;
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
