import type { Command } from 'commander';
import type { MoveView, RequestedMove } from '../../features/provisioning/moves/requests.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson } from '../terminal/output.ts';

interface Options {
  to?: string;
  cancel?: boolean;
  return?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Adds `install move`, which moves an install to another machine. */
export function addMoveCommand(install: Command): void {
  install
    .command('move')
    .summary('move an install to another machine, or show its move')
    .description(
      'move an install with its backups to another host ("homeport host list"), and wait for the result. The website serves ' +
        'while it is copied. At the end visitors can read it and not change it, for about as long as the first copy took; ' +
        'sessions of SSH and SFTP end then. If anything fails before the new machine takes over, the website stays where it ' +
        'was. The former machine keeps its copy, stopped, for 24 hours. Without an option, show the last move',
    )
    .argument('<name>', 'the install')
    .option('--to <host>', 'the name of the new host')
    .option('--cancel', 'cancel the move, unless the new machine takes over already')
    .option('--return', 'bring back the copy of the former host, if the new one takes over and is lost')
    .option('--yes', 'with --return: lose what was changed on the lost host without asking')
    .option(
      '--json',
      'print JSON: job_id, install_id, from, to, step; without --to also reason, requested_at, switched_at, has_copy',
    )
    .addHelpText('after', '\nExample:\n  homeport install move harbourcafe --to web2')
    .action((name: string, options: Options, command: Command) => {
      const given = [options.to !== undefined, options.cancel === true, options.return === true];
      if (given.filter(Boolean).length > 1)
        throw new OperatorError('Give one of --to, --cancel and --return.');
      if (options.return) return giveBack(name, options, command);
      if (options.to !== undefined) return move(name, options.to, options, command);
      return options.cancel ? cancel(name, command) : show(name, options, command);
    });
}

async function move(
  name: string,
  to: string,
  { json }: Pick<Options, 'json'>,
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const requested = await services.moves.request(name, to);
    const shown = { title: `Moving ${name} to ${to}`, subject: `The move of ${name}` };
    const ended = await waitForJob(requested.jobId, shown, platform, services);
    if (ended === undefined) return;
    if (ended.state === 'cancelled') throw new OperatorError(`The move of ${name} was cancelled.`);
    const present = await services.moves.show(name);
    if (ended.state !== 'succeeded') {
      const reason = present?.reason ?? ended.error ?? 'the reason is unknown';
      throw new OperatorError(
        present?.step === 'failed'
          ? `${name} stays on ${requested.from}: ${reason}`
          : `The move of ${name} goes on: ${reason}`,
      );
    }
    if (json) return printJson({ ...asJson(requested), step: 'moved' });
    process.stdout.write(
      withOwnCommand(
        `${name} is on ${to}. ${requested.from} keeps its copy, stopped, for 24 hours.\n` +
          `Users of SSH and SFTP sign in at ${to} from now on ("homeport host list").\n`,
      ),
    );
  });
}

async function cancel(name: string, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, services) => {
    await services.moves.cancel(name);
    process.stdout.write(`The move of ${name} is cancelled. What was copied is being removed.\n`);
  });
}

async function giveBack(name: string, { yes, json }: Options, command: Command): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const loss = await services.moves.lossOfReturn(name);
    if (yes !== true) {
      await requireConsent(`${loss} Continue?`, { effect: loss, kept: `The move of ${name} goes on.` });
    }
    const requested = await services.moves.giveBack(name);
    const { to } = requested;
    const shown = { title: `Returning ${name} to ${to}`, subject: `The return of ${name}` };
    const ended = await waitForJob(requested.jobId, shown, platform, services);
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(`The return of ${name} goes on: ${ended.error ?? 'the reason is unknown'}`);
    }
    if (json) return printJson({ ...asJson(requested), step: 'returned' });
    process.stdout.write(`${loss.replace(' returns to ', ' is back on ')}\n`);
  });
}

async function show(name: string, { json }: Pick<Options, 'json'>, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, services) => {
    const found = await services.moves.show(name);
    if (json) return printJson(found === null ? null : fullJson(found));
    process.stdout.write(
      `${found === null ? `${name} was not moved in the last 30 days.` : sentenceOf(name, found)}\n`,
    );
  });
}

const asJson = ({ jobId, installId, from, to }: RequestedMove) => ({
  ...{ job_id: jobId, install_id: installId, from, to },
});

const fullJson = (view: MoveView) => ({
  ...asJson(view),
  ...{ step: view.step, reason: view.reason, requested_at: view.requestedAt },
  ...{ switched_at: view.switchedAt, has_copy: view.hasCopy },
});

const STEPS: Record<MoveView['step'], string> = {
  copying: 'is being copied',
  handing_over: 'is being handed over',
  switched: 'is there, and the move is being completed',
  returning: 'returns to its former host',
  returned: 'is back on its former host',
  moved: 'was moved',
  failed: 'was not moved',
  cancelled: 'was not moved, because the move was cancelled',
};

function sentenceOf(name: string, { from, to, step, reason, requestedAt, switchedAt, hasCopy }: MoveView) {
  const when = switchedAt === null ? `requested at ${requestedAt}` : `switched at ${switchedAt}`;
  return [
    `${name} ${STEPS[step]}: from ${from} to ${to}, ${when}.`,
    ...(reason === null ? [] : [`Reason: ${printable(reason)}`]),
    ...(hasCopy ? [`${from} still has its copy, stopped.`] : []),
  ].join('\n');
}
