import { type Command, InvalidArgumentError } from 'commander';
import type { MoveReason, Proposal } from '../../features/hosts/rebalance.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson, shownBytes, table } from '../terminal/output.ts';

const REASONS: Record<MoveReason, string> = {
  labels: 'its account wants other hosts',
  spread: 'apart from other production installs',
  room: 'more room',
};

const MOST = 1000;

export function addHostRebalance(host: Command): void {
  host
    .command('rebalance')
    .summary('propose moves of installs between hosts')
    .description(
      'show which installs should move to which hosts: those that their accounts want elsewhere, production installs of one account that ' +
        'share a host, and installs of the fullest hosts. It counts memory, disk, load and capacity, as a running server saw them last',
    )
    .option('--dry-run', 'only show them; nothing moves by itself, so it is needed')
    .option('--limit <number>', `at most so many moves, up to ${MOST}`, limitArgument, 20)
    .option(
      '--json',
      'print JSON: moves (install, from, to, bytes or null, reason: labels, spread or room) and stuck (install, from, refusal)',
    )
    .addHelpText('after', '\nExample:\n  homeport host rebalance --dry-run')
    .action(async ({ dryRun, limit, json }: RebalanceOptions, command: Command) => {
      if (!dryRun) {
        throw new OperatorError(
          'It only shows moves. Add --dry-run, and make them one by one with "homeport install move".',
        );
      }
      const { proposedMoves } = await import('../../features/hosts/placement-service.ts');
      await withPlatform(command, async (platform) => {
        const proposal = await proposedMoves(platform, limit);
        if (json) printJson(asJson(proposal));
        else process.stdout.write(shown(proposal));
      });
    });
}

interface RebalanceOptions {
  dryRun?: boolean;
  limit: number;
  json?: boolean;
}

function limitArgument(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST) return limit;
  throw new InvalidArgumentError(`It must be a number from 1 to ${MOST}.`);
}

function asJson({ moves, stuck }: Proposal) {
  return {
    moves: moves.map(({ install: { name, bytes }, ...move }) => ({ install: name, ...move, bytes })),
    stuck: stuck.map(({ install: { name }, ...rest }) => ({ install: name, ...rest })),
  };
}

function shown({ moves, stuck }: Proposal): string {
  if (moves.length + stuck.length === 0) return 'Nothing needs to move.\n';
  const proposed = table(
    ['INSTALL', 'FROM', 'TO', 'SIZE', 'WHY'],
    moves.map(({ install: { name, bytes }, from, to, reason }) => [
      name,
      from,
      to,
      bytes === null ? '-' : shownBytes(bytes),
      REASONS[reason],
    ]),
  );
  const blocked = stuck.map(
    ({ install: { name }, from, refusal }) => `${name} cannot leave ${from}: ${refusal}.\n`,
  );
  return [moves.length === 0 ? '' : proposed, ...blocked].join('');
}
