import type { Command } from 'commander';
import {
  type EmptiedInstall,
  emptyHost,
  type MoveEnd,
} from '../../features/provisioning/moves/empty-host.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable } from '../terminal/output.ts';

/** Moves the installs of a host to others, and prints each. Throws OperatorError if some stay. */
export async function moveAway(hostName: string, command: Command): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const interrupted = new AbortController();
    const ended: MoveEnd = async ({ jobId, to }, { name, number, total }) => {
      const shown = {
        title: `Moving ${name} to ${to} (${number} of ${total})`,
        subject: `The move of ${name}`,
      };
      const job = await waitForJob(jobId, shown, platform, services);
      if (job === undefined) interrupted.abort();
      if (job === undefined || job.state === 'succeeded') return null;
      return (await services.moves.show(name))?.reason ?? job.error ?? 'the move was cancelled';
    };
    const host = await services.hosts.find(hostName);
    const stayed: string[] = [];
    const emptied = emptyHost(platform, services.moves.request, host.id, ended, interrupted.signal);
    for await (const install of emptied) {
      process.stdout.write(lineOf(install));
      if ('stayed' in install) stayed.push(install.name);
    }
    if (interrupted.signal.aborted) return;
    if (stayed.length > 0) {
      throw new OperatorError(
        `${stayed.length === 1 ? 'One install stays' : `${stayed.length} installs stay`} on ${hostName}: ${stayed.join(', ')}.`,
      );
    }
    const { installs } = await services.hosts.find(hostName);
    process.stdout.write(
      withOwnCommand(
        installs === 0
          ? `${hostName} has no installs. It keeps copies for 24 hours; "homeport host remove ${hostName}" works after that.\n`
          : `${hostName} has ${installs} installs that are not active; "homeport install list" shows them.\n`,
      ),
    );
  });
}

const lineOf = (install: EmptiedInstall) =>
  'to' in install
    ? `${install.name} is on ${install.to}.\n`
    : withOwnCommand(`${install.name} stays: ${printable(install.stayed)}\n`);
