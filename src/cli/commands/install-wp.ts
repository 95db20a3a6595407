import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printableLines, printJson } from '../terminal/output.ts';

export function addInstallWp(install: Command): void {
  install
    .command('wp')
    .summary('run WP-CLI in an install')
    .description(
      'run one command of WP-CLI in an install, as its user and within its limits, for 10 minutes at most, and print its output. ' +
        'This command ends with the status of WP-CLI. Arguments follow "--". The activity of the account records the first words',
    )
    .argument('<name>', 'the install')
    .argument('<args...>', 'the command of WP-CLI with its arguments')
    .option('--json', 'print JSON: job_id, install_id, exit_status, stdout, stderr, truncated')
    .addHelpText('after', '\nExample:\n  homeport install wp harbourcafe -- plugin list --status=active')
    .action(runWp);
}

async function runWp(name: string, args: string[], { json }: { json?: boolean }, command: Command) {
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId } = await services.wpCli.runAsOperator(name, args);
    const ended = await waitForJob(
      jobId,
      { title: `Running WP-CLI in ${name}`, subject: `The command in ${name}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        ended.state === 'cancelled'
          ? `The command in ${name} was cancelled.`
          : `The command in ${name} failed: ${ended.error ?? 'the reason is unknown'}`,
      );
    }
    const result = await services.wpCli.resultOf(jobId);
    if (result === null) throw new OperatorError('The output of the command is no longer kept.');
    const { exitStatus, stdout, stderr, stdoutTruncated, stderrTruncated } = result;
    process.exitCode = exitStatus;
    if (json) {
      return printJson({
        job_id: jobId,
        install_id: installId,
        exit_status: exitStatus,
        stdout,
        stderr,
        truncated: stdoutTruncated || stderrTruncated,
      });
    }
    // The website decides what it prints, and must not control the operator's terminal.
    process.stdout.write(process.stdout.isTTY ? printableLines(stdout) : stdout);
    process.stderr.write(process.stderr.isTTY ? printableLines(stderr) : stderr);
    if (stdoutTruncated || stderrTruncated) {
      process.stderr.write('The output was longer than 256 KiB; the rest was left out.\n');
    }
  });
}
