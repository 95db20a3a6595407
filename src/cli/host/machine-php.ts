import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { linuxLayout } from '../../hosting/linux/machine/layout.ts';
import { findPhpRuntimes } from '../../hosting/linux/machine/php-runtimes.ts';
import { installsOnPhp } from '../../hosting/linux/machine/php-users.ts';
import { createApt } from '../../hosting/linux/setup/apt.ts';
import { type NamedSource, provideSource } from '../../hosting/linux/setup/apt-source.ts';
import { requireDebian } from '../../hosting/linux/setup/machine.ts';
import {
  completePhpVersion,
  installPhpVersion,
  type ListedPhp,
  listPhpVersions,
  removePhpVersion,
} from '../../hosting/linux/setup/php-versions.ts';
import { noteServices } from '../../hosting/linux/setup/services.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { tellOfServices } from './machine-setup.ts';
import { serviceSettings } from './service-settings.ts';
import { tell } from './setup-report.ts';

/** The PHP versions of this machine, for the command line. Each change prints its steps. */
export interface MachinePhp {
  list(): Promise<ListedPhp[]>;
  /** Throws OperatorError if the version cannot be had or remains incomplete. */
  add(version: string, source: NamedSource | null): Promise<void>;
  /** Throws OperatorError if installs or other packages need it. */
  remove(version: string): Promise<void>;
}

/** Throws OperatorError if this is not Debian. `given`: the configuration of a machine without systemd. */
export async function machinePhp(given: Config): Promise<MachinePhp> {
  await requireDebian();
  const { hostFolder, hostRunFolder } = hasSystemd() ? (await serviceSettings(process.env)).config : given;
  const layout = linuxLayout(hostFolder, hostRunFolder);
  const apt = createApt();
  const parts = {
    apt,
    runtimes: () => findPhpRuntimes(layout),
    installsOn: (version: string) => installsOnPhp(layout, version),
  };
  return {
    list: () => listPhpVersions(parts),

    async add(version, source) {
      process.stdout.write(`Adding PHP ${version}\n`);
      if (source !== null) {
        const named = { ...source, keyFile: resolve(source.keyFile) };
        await tell('source', async () => ((await provideSource(named, apt)) ? 'added' : null));
      }
      await noteServices();
      await tell('packages', async () =>
        listed('installed', await installPhpVersion(parts, version, reportStep)),
      );
      if (hasSystemd()) await tellOfServices();
      await tell('extensions', async () => listed('enabled', await completePhpVersion(parts, version)));
      process.stdout.write(
        `\nPHP ${version} is ready. The newest version is the default of new installs. Next:\n` +
          (hasSystemd()
            ? '  systemctl restart homeport-host      compiles WordPress for it; websites stay up\n'
            : '') +
          withOwnCommand(`  homeport install php <install> ${version}   switches an install, with a check\n`),
      );
    },

    async remove(version) {
      process.stdout.write(`Removing PHP ${version}\n`);
      await tell('packages', async () => listed('removed', await removePhpVersion(parts, version)));
    },
  };
}

/** Within the line of the present step, which its result ends. */
function reportStep(step: string): void {
  process.stdout.write(`${step} … `);
}

function listed(done: string, names: string[]): string | null {
  return names.length === 0 ? null : `${done} ${names.join(', ')}`;
}
