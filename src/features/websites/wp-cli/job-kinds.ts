import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Host } from '../../../hosting/contract/host.ts';
import type { WpCliRefused } from '../../../hosting/contract/wp-cli.ts';
import { HostUnreachableError } from '../../../hosting/remote/client.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { setResult } from '../../../jobs/operations-store.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently } from '../../hosts/host-failures.ts';
import { findActiveInstall } from '../installs/website-store.ts';
import { commandWords } from './command-words.ts';
import { runWpCli } from './jobs.ts';
import { sealOutput } from './outputs.ts';
import { endRun, takeArguments } from './store.ts';

const storedArguments = Type.Array(Type.String());

const INTERRUPTED =
  'The command was interrupted, and may have done a part of its work. It does not run again.';
const CODES = {
  missing: 'change_refused',
  website: 'change_refused',
  interrupted: 'interrupted',
  time: 'timed_out',
  output: 'failed',
} as const satisfies Record<WpCliRefused['refused'], string>;

/** The job that runs WP-CLI. Taking the arguments out of the database first keeps a command from running twice. */
export function wpCliJobKinds(
  { database, sealer, clock }: Pick<Platform, 'database' | 'sealer' | 'clock'>,
  host: Pick<Host, 'runWpCli'>,
): JobKind[] {
  return [
    defineJob({
      ...runWpCli,
      async run({ run_id, install_id }, { id, signal }) {
        const install = await findActiveInstall(database.reader, install_id);
        if (!install) {
          throw new PermanentFailure('The install has no website.', { code: 'website_missing' });
        }
        const sealed = await database.write(({ queries }) => takeArguments(queries, run_id));
        if (sealed === undefined) throw new PermanentFailure(INTERRUPTED, { code: 'interrupted' });
        const args = Value.Parse(storedArguments, JSON.parse(sealer.open(sealed)));
        const outcome = await permanently(host.runWpCli(install, args, signal)).catch((cause: unknown) => {
          if (!(cause instanceof HostUnreachableError)) throw cause;
          throw new PermanentFailure(
            'The machine of the website did not answer, so the command may have done a part of its work. It does not run again.',
            { code: 'interrupted', cause },
          );
        });
        if ('refused' in outcome) {
          throw new PermanentFailure(outcome.reason, { code: CODES[outcome.refused] });
        }
        const { exitStatus } = outcome;
        const command = commandWords(args);
        const sealed_output = sealOutput(sealer, outcome);
        return async ({ queries }) => {
          await endRun(queries, run_id, timestamp(clock), { exit_status: exitStatus, sealed_output });
          await setResult(queries, id, 'wordpress.cli', {
            exit_status: String(exitStatus),
            ...(command !== '' && { command }),
          });
        };
      },
      giveUp: ({ run_id }, _failure, { queries }) => endRun(queries, run_id, timestamp(clock)),
    }),
  ];
}
