import Type from 'typebox';
import { WP_CLI_SECONDS } from '../../../hosting/contract/wp-cli.ts';
import type { JobType } from '../../../jobs/job.ts';
import { HOUR_MS } from '../../../lib/durations.ts';

const payload = Type.Object({ run_id: Type.String(), install_id: Type.String() });

/** Runs one command of WP-CLI, at most once. */
export const runWpCli: JobType<typeof payload> = {
  name: 'run_wp_cli',
  operation: 'wordpress.cli',
  // A command can take minutes, and must not keep new installs waiting.
  class: 'long',
  payload,
  maxAttempts: 1,
  // Longer than the host's own limit.
  timeoutMs: (WP_CLI_SECONDS + 120) * 1_000,
  patienceMs: HOUR_MS,
};

/** The commands of an install run one at a time, beside its other jobs. */
export function wpCliLane(installId: string): string {
  return `wp-cli:${installId}`;
}
