import { type Command, InvalidArgumentError } from 'commander';
import type { ListedPhp } from '../../hosting/linux/setup/php-versions.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { configOf } from '../platform/configuration.ts';
import { printJson, table } from '../terminal/output.ts';
import { requireRoot } from './require-root.ts';

interface AddOptions {
  source?: string;
  key?: string;
}

/** Adds the commands for the PHP versions of this machine. */
export function addHostPhp(host: Command): void {
  const php = host
    .command('php')
    .summary('list, add and remove PHP versions of this machine')
    .description(
      'list, add and remove PHP versions of this Debian machine. Run it as root on the machine that runs the websites',
    );

  php
    .command('list')
    .description(
      'list the PHP versions of this machine and of its package sources, with missing extensions and the installs on each',
    )
    .option(
      '--json',
      'print JSON: an array of version, state, root, shortcoming, offered (version, source), isOfRelease, installs, command',
    )
    .addHelpText('after', '\nExample:\n  homeport host php list')
    .action(list);

  php
    .command('add')
    .summary('install a PHP version with all extensions that websites need')
    .description(
      'install a PHP version with all extensions that websites need, or those that it lacks, and check it by running it. Packages come ' +
        "from this machine's sources. --source adds another one, for example the packages of deb.sury.org; apt trusts its key for " +
        'this source only. Safe to repeat',
    )
    .argument('<version>', 'like 8.4', versionOf)
    .option('--source <line>', 'package source to add: "deb <address> <suite> <component>"')
    .option('--key <file>', 'file with the public key that signs the source')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host php add 8.4\n  homeport host php add 8.4 --key ./sury.gpg \\\n' +
        '    --source "deb https://packages.sury.org/php/ bookworm main"',
    )
    .action(add);

  php
    .command('remove')
    .summary('remove a PHP version that no install uses')
    .description(
      "remove a PHP version that no install uses. The version of the Debian release stays, and so do apt's sources",
    )
    .argument('<version>', 'like 8.4', versionOf)
    .addHelpText('after', '\nExample:\n  homeport host php remove 8.3')
    .action(remove);
}

function versionOf(text: string): string {
  if (/^\d{1,2}\.\d{1,2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a version like 8.4.');
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  requireRoot('homeport host php list');
  const { machinePhp } = await import('./machine-php.ts');
  const versions = await (await machinePhp(configOf(command))).list();
  if (json) return printJson(versions);
  process.stdout.write(
    versions.length === 0
      ? withOwnCommand('There is no PHP here, and no package source with PHP. Run "homeport host setup".\n')
      : table(
          ['VERSION', 'STATE', 'PACKAGE', 'SOURCE', 'INSTALLS'],
          versions.map((php) => [
            php.version,
            stateOf(php),
            php.offered?.version ?? '-',
            php.offered?.source ?? php.root ?? '-',
            php.installs.join(' ') || '-',
          ]),
        ),
  );
  for (const { version, command: fix, state } of versions) {
    if (fix === null) continue;
    process.stdout.write(
      `\nPHP ${version}: ${state === 'available' ? 'add it with' : 'complete it with'} "${fix}"\n`,
    );
  }
}

function stateOf({ state, shortcoming, isOfRelease }: ListedPhp): string {
  if (state === 'available') return 'not installed';
  if (shortcoming !== null) return `not offered: ${shortcoming}`;
  return isOfRelease ? 'ready, of this Debian release' : 'ready';
}

async function add(version: string, { source, key }: AddOptions, command: Command): Promise<void> {
  if ((source === undefined) !== (key === undefined)) {
    throw new OperatorError(
      '--source and --key go together: apt accepts a source only with its signing key.',
    );
  }
  requireRoot('homeport host php add');
  const { machinePhp } = await import('./machine-php.ts');
  const named = source === undefined || key === undefined ? null : { line: source, keyFile: key };
  await (await machinePhp(configOf(command))).add(version, named);
}

async function remove(version: string, _options: object, command: Command): Promise<void> {
  requireRoot('homeport host php remove');
  const { machinePhp } = await import('./machine-php.ts');
  await (await machinePhp(configOf(command))).remove(version);
}
