import { type Command, InvalidArgumentError } from 'commander';
import type { Services } from '../../app/services.ts';
import { requireNamed } from '../../features/websites/installs/requested-website.ts';
import { phpName, whyWasm } from '../../hosting/policy/embedded-php-name.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { alignedPairs, printable, printJson } from '../terminal/output.ts';

interface Options {
  memoryLimit?: string | null;
  upload?: string | null;
  time?: number | null;
  workers?: number | null;
  inputVars?: number | null;
  restart?: boolean;
  json?: boolean;
}

export function addInstallPhp(install: Command): void {
  install
    .command('php')
    .summary('show or change the PHP of an install')
    .description(
      'show the PHP of an install, switch its version, change its limits, or restart it, and wait for the result. "default" returns a limit to ' +
        'its default. The website is checked before and after; if it is worse off, nothing changes. A running server does the ' +
        'work, otherwise this command does',
    )
    .argument('<name>', 'the install')
    .argument('[version]', 'switch to this version, such as 8.4', phpArgument)
    .option('--memory-limit <size>', 'memory_limit, such as 256M', sizeArgument)
    .option('--upload <size>', 'upload_max_filesize, such as 128M', sizeArgument)
    .option('--time <seconds>', 'max_execution_time', countArgument)
    .option('--workers <count>', 'requests that PHP works on at once', countArgument)
    .option('--input-vars <count>', 'max_input_vars', countArgument)
    .option('--restart', 'restart PHP, afterwards: removes what former code left in memory')
    .option('--json', 'print JSON: install_name, version, versions, limits, custom, defaults, maximums')
    .addHelpText(
      'after',
      '\nExample:\n  homeport install php harbourcafe 8.4\n  homeport install php harbourcafe --memory-limit 512M\n  homeport install php harbourcafe --restart',
    )
    .action(changePhp);
}

function phpArgument(text: string): string {
  if (!/^\d{1,2}\.\d{1,2}$/.test(text)) throw new InvalidArgumentError('It must be like 8.4.');
  return text;
}

function sizeArgument(text: string): string | null {
  if (text === 'default') return null;
  if (!/^[1-9]\d{0,5}[MG]$/.test(text)) throw new InvalidArgumentError('It must be like 256M, or "default".');
  return text;
}

function countArgument(text: string): number | null {
  if (text === 'default') return null;
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number, or "default".');
  }
  return Number(text);
}

async function changePhp(name: string, version: string | undefined, options: Options, command: Command) {
  await withPlatform(command, async (platform, services) => {
    const { installs, php } = services;
    if (version !== undefined) {
      const { jobId } = await installs.switchPhp(name, version);
      if (!(await follow(jobId, `Switching ${name} to PHP ${version}`, name, platform, services))) return;
    }
    const { memoryLimit, upload, time, workers, inputVars } = options;
    const { jobId } = await php.updateAsOperator(name, {
      ...(memoryLimit === undefined ? {} : { memory_limit: memoryLimit }),
      ...(upload === undefined ? {} : { upload_max_filesize: upload }),
      ...(time === undefined ? {} : { max_execution_time: time }),
      ...(workers === undefined ? {} : { workers }),
      ...(inputVars === undefined ? {} : { max_input_vars: inputVars }),
    });
    if (!(await follow(jobId, `Changing the PHP limits of ${name}`, name, platform, services))) return;
    if (options.restart) {
      const restarting = await php.restartAsOperator(name);
      if (!(await follow(restarting, `Restarting the PHP of ${name}`, name, platform, services))) return;
    }
    const view = await php.getAsOperator(name);
    if (options.json) return printJson({ install_name: name, ...view });
    const limits = Object.entries(view.limits ?? {}).map(([limit, value]): [string, string] => [
      limit,
      `${value}${view.custom.includes(limit) ? '' : ' (default)'}`,
    ]);
    const running = await installs.runningPhp(await requireNamed(platform.database.reader, name));
    const known = running === null ? `PHP ${view.version}` : phpName(running);
    const why = running === null ? null : whyWasm(running);
    process.stdout.write(`${name} runs on ${view.version === null ? 'no PHP' : known}.\n`);
    if (why !== null) process.stdout.write(`${printable(why)}\n`);
    process.stdout.write(alignedPairs(limits));
  });
}

/** False if Ctrl-C ended the waiting. */
async function follow(
  jobId: string | null,
  title: string,
  name: string,
  platform: Platform,
  services: Services,
): Promise<boolean> {
  if (jobId === null) return true;
  const ended = await waitForJob(jobId, { title, subject: `The change of ${name}` }, platform, services);
  if (ended === undefined) return false;
  if (ended.state === 'cancelled') throw new OperatorError(`The change of ${name} was cancelled.`);
  if (ended.state !== 'succeeded') {
    throw new OperatorError(`The change of ${name} failed: ${ended.error ?? 'the reason is unknown'}`);
  }
  return true;
}
