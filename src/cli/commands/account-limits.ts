import { type Command, InvalidArgumentError } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson, table } from '../terminal/output.ts';
import { namedAccount } from './named-account.ts';

/** Commander replaces null by an empty text. */
type Limit = number | 'none';

interface LimitOptions {
  visitors?: Limit;
  storage?: Limit;
  bandwidth?: Limit;
  json?: boolean;
}

const UNITS = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** `homeport account limits`. */
export function addAccountLimitsCommand(account: Command): void {
  account
    .command('limits')
    .description('show or set the monthly limits of an account, which its users see beside its usage')
    .argument('<account>', 'its name or id')
    .option('--visitors <number>', 'visits a month, or "none"', countArgument)
    .option('--storage <bytes>', 'bytes, or a number with KB, MB, GB or TB, or "none"', bytesArgument)
    .option('--bandwidth <bytes>', 'a month: as --storage', bytesArgument)
    .option('--json', 'print JSON: visitors, storage, bandwidth (bytes; null without a limit)')
    .addHelpText(
      'after',
      '\nHomeport shows limits and does not enforce them.' +
        '\n\nExample:\n  homeport account limits "Harbour Agency" --visitors 100000 --storage 50GB --bandwidth none',
    )
    .action(async (text: string, { json, ...wanted }: LimitOptions, command: Command) => {
      const change = Object.fromEntries(
        Object.entries(wanted).map(([name, limit]) => [name, limit === 'none' ? null : limit]),
      );
      await withPlatform(command, async (_platform, { accounts, usage }) => {
        const { id, name } = namedAccount(await accounts.listAll(), text);
        const limits =
          Object.keys(change).length === 0 ? await usage.limitsOf(id) : await usage.setLimits(id, change);
        if (json) return printJson(limits);
        const shown = (value: number | null) => (value === null ? 'none' : String(value));
        process.stdout.write(
          table(
            ['ACCOUNT', 'VISITORS', 'STORAGE (BYTES)', 'BANDWIDTH (BYTES)'],
            [[name, shown(limits.visitors), shown(limits.storage), shown(limits.bandwidth)]],
          ),
        );
      });
    });
}

function countArgument(text: string): Limit {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number or "none".');
  return Number(text);
}

function bytesArgument(text: string): Limit {
  if (text === 'none') return text;
  const [, digits, unit] = /^(\d{1,15})\s*(KB|MB|GB|TB)?$/.exec(text) ?? [];
  const bytes = Number(digits) * (isUnit(unit) ? UNITS[unit] : 1);
  if (!Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError('It must be a number such as 1073741824 or 50GB, or "none".');
  }
  return bytes;
}

function isUnit(text: string | undefined): text is keyof typeof UNITS {
  return text !== undefined && text in UNITS;
}
