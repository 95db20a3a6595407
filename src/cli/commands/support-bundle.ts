import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../lib/clock.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printableLines, shownBytes, table } from '../terminal/output.ts';

interface BundleOptions {
  preview?: boolean;
  yes?: boolean;
  log: string[];
}

export function addSupportBundleCommand(program: Command): void {
  program
    .command('support-bundle')
    .summary('collect what a bug report needs, without secrets')
    .description(
      'write a .tar.gz with version, settings, findings of doctor, schema, counts, states of hosts, failed jobs and recent logs. Passwords, ' +
        'keys, tokens and credentials are removed. Names of hosts, installs and domains, addresses of visitors and email addresses stay. Shows the list ' +
        'before it writes',
    )
    .argument('[file]', 'the file to write (default: homeport-support-TIME.tar.gz)')
    .option(
      '--log <file>',
      'also the end of this log; repeatable',
      (file: string, all: string[]) => [...all, file],
      [],
    )
    .option('--preview', 'print the contents and write nothing')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      '\nExample:\n  homeport support-bundle --preview\n  homeport support-bundle --log /var/log/homeport.log',
    )
    .action(async (file: string | undefined, { preview, yes, log }: BundleOptions, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const { collectSupport } = await import('../support/collect.ts');
      const at = systemClock.now();
      const files = await collectSupport({ environment: process.env, configFile: config, logs: log });
      if (preview) {
        for (const { name, text } of files) process.stdout.write(`=== ${name}\n${printableLines(text)}\n`);
        return;
      }
      const rows = files.map(({ name, about, text }) => [
        name,
        shownBytes(Buffer.byteLength(text)),
        printable(about),
      ]);
      process.stdout.write(`${table(['File', 'Size', 'Content'], rows)}\n`);
      const path = resolve(file ?? `homeport-support-${at.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz`);
      if (!yes) {
        await requireConsent(`Write these files to ${path}?`, {
          effect: 'The bundle is for people outside.',
          kept: 'Nothing was written.',
        });
      }
      const { writeBundle } = await import('../support/write-bundle.ts');
      await writeBundle(path, { folder: basename(path).replace(/\.tar\.gz$/, ''), files, at });
      process.stdout.write(`Wrote ${path}. Look at it before you send it to anyone.\n`);
    });
}
