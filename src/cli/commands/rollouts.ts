import { type Command, InvalidArgumentError } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';
import { printJson, shownTime, table } from '../terminal/output.ts';

export function addRolloutCommands(program: Command): void {
  const rollout = program
    .command('rollout')
    .description('see and continue the rollouts of WordPress releases to the installs');

  rollout
    .command('list')
    .summary('list rollouts with their counts, newest first')
    .description(
      'list the rollouts of WordPress releases, newest first. A rollout updates one install, then 5 % of all, then the others, and ' +
        'stops if more than 2 % were rolled back',
    )
    .option(
      '--json',
      'print JSON: an array of version, created_at, stopped_at, reason, resumed_at, running, succeeded, rolledBack, failed',
    )
    .addHelpText('after', '\nExample:\n  homeport rollout list')
    .action(listRollouts);

  rollout
    .command('resume')
    .summary('continue a stopped rollout')
    .description(
      'continue a stopped rollout, with one install first. Earlier rollbacks and failures no longer count. Installs that were rolled back are ' +
        'left out',
    )
    .argument('<version>', 'the version of WordPress, such as 6.8.7', versionArgument)
    .addHelpText('after', '\nExample:\n  homeport rollout resume 6.8.7')
    .action(resumeRollout);
}

function versionArgument(text: string): string {
  if (!/^\d{1,3}(\.\d{1,3}){1,2}$/.test(text)) throw new InvalidArgumentError('It must be like 6.8.7.');
  return text;
}

async function listRollouts({ json }: { json?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, { rollouts }) => {
    const all = await rollouts.list();
    if (json) return printJson(all);
    process.stdout.write(
      all.length === 0
        ? 'There are no rollouts yet.\n'
        : table(
            ['WORDPRESS', 'STATE', 'RUNNING', 'SUCCEEDED', 'ROLLED BACK', 'FAILED', 'SINCE', 'REASON'],
            all.map(
              ({
                version,
                stopped_at,
                running,
                succeeded,
                rolledBack,
                failed,
                reason,
                resumed_at,
                created_at,
              }) => [
                version,
                stopped_at === null ? 'active' : 'stopped',
                String(running),
                String(succeeded),
                String(rolledBack),
                String(failed),
                shownTime(stopped_at ?? resumed_at ?? created_at, ''),
                reason ?? '-',
              ],
            ),
          ),
    );
  });
}

async function resumeRollout(version: string, _options: object, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, { rollouts }) => {
    await rollouts.resume(version);
    process.stdout.write(`The rollout of WordPress ${version} continues with one install.\n`);
  });
}
