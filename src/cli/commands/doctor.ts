import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { type Finding, problem } from '../doctor/finding.ts';
import { configOf } from '../platform/configuration.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { coloured, printable, printJson } from '../terminal/output.ts';
import { createWaitProgress } from '../terminal/wait-progress.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary('run all checks and suggest fixes')
    .description(
      'check configuration, data folder, database, keys, certificates, resolvers, ports, websites, their pages, jobs, email and clock, and suggest ' +
        'fixes. Changes nothing and works with or without a running server. Exits with 1 if there is a problem',
    )
    .option('--host', 'compare the machines that run websites with their desired state instead')
    .option('--repair', 'with --host: fix everything found, except data')
    .option('--json', 'print JSON: ok, checks (an array of check, state, message, remedy)')
    .addHelpText('after', '\nExample:\n  homeport doctor\n  homeport doctor --host --repair')
    .action(async ({ host = false, repair = false, json }: DoctorOptions, command: Command) => {
      if (repair && !host)
        throw new OperatorError('--repair needs --host. Other problems have no automatic fix.');
      const found = host ? await hostFindingsOf(command, repair) : await findingsOf(command);
      const findings = found.map(withOwnCommands);
      const healthy = findings.every(({ state }) => state !== 'problem');
      if (json) printJson({ ok: healthy, checks: findings });
      else process.stdout.write(report(findings));
      if (!healthy) process.exitCode = 1;
    });
}

interface DoctorOptions {
  host?: boolean;
  repair?: boolean;
  json?: boolean;
}

async function hostFindingsOf(command: Command, repair: boolean): Promise<Finding[]> {
  const { examineHosts } = await import('../doctor/hosts.ts');
  let findings: Finding[] = [];
  await withPlatform(command, async (platform, services) => {
    const progress = createWaitProgress('Comparing the hosts with their desired state', process.stderr);
    // Without a terminal, a line of progress would say nothing more than the findings.
    if (process.stderr.isTTY) progress.begin();
    try {
      findings = await examineHosts(platform, services, repair);
    } finally {
      progress.end();
    }
  });
  return findings;
}

async function findingsOf(command: Command): Promise<Finding[]> {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  let config: Config;
  try {
    config = configOf(command);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [
      problem('configuration', error.message, 'Correct it, then run doctor again for the other checks.'),
    ];
  }
  const { examine } = await import('../doctor/examine.ts');
  const { createQuietLog } = await import('../platform/quiet-log.ts');
  const progress = createLineProgress('Requesting pages', process.stderr, systemClock);
  try {
    const log = await createQuietLog({ logLevel: 'silent' });
    return await examine(config, { file, log, report: progress.report });
  } finally {
    progress.end();
  }
}

/** With the commands of this installation. Findings come from other machines, too. */
function withOwnCommands({ message, remedy, ...finding }: Finding): Finding {
  return {
    ...finding,
    message: withOwnCommand(message),
    remedy: remedy === null ? null : withOwnCommand(remedy),
  };
}

const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red' } as const;
const STATE_WIDTH = 'problem'.length;

/** Formats a line for each check, its fix below it, and the counts. */
function report(findings: Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = ' '.repeat(STATE_WIDTH + width + 4);
  const lines = findings.flatMap(({ check, state, message, remedy }) => [
    `${coloured(state.padEnd(STATE_WIDTH), COLOURS[state])}  ${check.padEnd(width)}  ${printable(message)}`,
    ...(remedy === null ? [] : [`${indent}→ ${printable(remedy)}`]),
  ]);
  return `${lines.join('\n')}\n\n${summary(findings)}\n`;
}

function summary(findings: Finding[]): string {
  const count = (wanted: Finding['state'], word: string) => {
    const found = findings.filter(({ state }) => state === wanted).length;
    return found === 0 ? [] : [`${found} ${word}${found === 1 ? '' : 's'}`];
  };
  const parts = [...count('problem', 'problem'), ...count('warning', 'warning')];
  return parts.length === 0 ? 'All checks passed.' : `${parts.join(', ')}.`;
}
