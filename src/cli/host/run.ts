import { join } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import { createFolders } from '../../lib/create-folders.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { MAY_TAKE_LONG } from '../../lib/start-steps.ts';
import { configOf } from '../platform/configuration.ts';
import { hostSocketOf, takesConnections } from '../platform/host-socket.ts';
import { announcing, notifyServiceManager } from '../platform/service-manager.ts';
import { alignedPairs, heading } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signals.ts';
import { requireRoot } from './require-root.ts';

/** Time for an earlier host to end, whose database server flushes its memory. */
const END_WITHIN_SECONDS = 180;

/** Adds `homeport host`, the process of root that runs the websites of this machine. */
export function addHostRun(host: Command): void {
  host
    .description(
      'run the websites of this machine, as root; the control plane commands it through its socket',
    )
    .addHelpText('after', '\nExample:\n  homeport host')
    .allowExcessArguments()
    .action(async (_options: unknown, command: Command) => {
      const [word] = command.args;
      if (word !== undefined) command.error(`error: unknown command '${word}'`);
      requireRoot('homeport host');
      const config = configOf(command);
      const { createLog } = await import('../platform/log.ts');
      const log = await createLog(config);
      // Checked first, because the daemons of a running host look like those of a killed one.
      const socket = hostSocketOf(config);
      if (await takesConnections(socket)) {
        throw new OperatorError(`Another "homeport host" listens at ${socket}. Stop that one first.`);
      }
      const { withFileLock } = await import('../../hosting/linux/isolation/file-lock.ts');
      createFolders(config.hostRunFolder, 0o755);
      // A host that is still ending would end the daemons of its successor.
      const lock = join(config.hostRunFolder, 'host.lock');
      await withFileLock(lock, () => runUntilSignal(config, log), END_WITHIN_SECONDS);
    });
}

async function runUntilSignal(config: Config, log: Logger): Promise<void> {
  const ending = untilSignal();
  const { forgetOtherSupervisor } = await import('./supervisor-record.ts');
  await forgetOtherSupervisor(config);
  const { startHostMachine } = await import('../../app/linux-host.ts');
  // No visitor waits for it, and it looks at each website.
  await announcing(log)?.(`Starting the websites ${MAY_TAKE_LONG}`);
  const machine = await startHostMachine(config, { log });
  process.stdout.write(banner(config, await machine.host.describe(), hasSystemd()));
  await notifyServiceManager('READY=1', log);
  await ending;
  await notifyServiceManager('STOPPING=1', log);
  await machine.stop();
}

/** Resolves at a signal to stop. SIGHUP means that the terminal was closed or the supervisor is gone. */
function untilSignal(): Promise<void> {
  return Promise.race([
    stopSignal(
      hasSystemd()
        ? 'finishing commands; the daemons of the websites keep running'
        : 'stopping the websites of this machine',
    ),
    new Promise<void>((resolve) => process.on('SIGHUP', () => resolve())),
  ]);
}

function banner(
  config: Config,
  { id, capacity, phpVersions, wordpressVersions, ports }: HostDescription,
  bySystemd: boolean,
): string {
  return [
    heading('This host is running'),
    alignedPairs([
      ['Host', id],
      ['Socket', `${config.hostRunFolder}/host.sock, for the group ${config.hostGroup}`],
      ['Websites', `ports ${ports.http} (HTTP) and ${ports.https} (HTTPS)`],
      ['SSH, SFTP', `port ${ports.ssh}`],
      ['WordPress', wordpressVersions.join(', ')],
      ['PHP', phpVersions.join(', ')],
      ['Room for', `${capacity} installs`],
      ['Daemons', bySystemd ? 'run by systemd' : 'supervised by this process'],
    ]),
    '',
  ].join('\n');
}
