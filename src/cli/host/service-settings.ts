import { access, chmod, chown, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, readConfig } from '../../config/config.ts';
import { provideFile } from '../../hosting/linux/setup/machine.ts';
import {
  differingSettings,
  extendedSettings,
  missingSettings,
  settingsText,
} from '../../hosting/linux/setup/settings-file.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { ifThere } from '../../lib/if-there.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { SETTINGS_FILE } from '../../lib/own-command.ts';

/** Settings file of earlier versions. */
const EARLIER_FILE = '/etc/homeport/host.conf';
const RETIRED = `${EARLIER_FILE}.replaced`;
export const CONTROL_PLANE_HOME = '/var/lib/homeport';

/** Paths of the files, which tests replace. */
export interface SettingsPlace {
  file: string;
  earlier: string;
  retired: string;
}

const MACHINE: SettingsPlace = { file: SETTINGS_FILE, earlier: EARLIER_FILE, retired: RETIRED };

/** Settings that both services need. Relative paths have no meaning in a service. */
const REQUIRED = { HOMEPORT_HOST: 'linux', HOMEPORT_DATA_DIR: CONTROL_PLANE_HOME };

type Variables = Record<string, string | undefined>;

export interface ServiceSettings {
  /** Configuration of the services. */
  config: Config;
  /** Writes a missing file. Returns what was done, or null. */
  provide(group: { gid: number }): Promise<string | null>;
  /** A warning about settings of the environment that differ from the file, or null. */
  warning: string | null;
}

/**
 * The same without systemd, where {@link settingsOfMachine} finds the file. `dataDir`: the data folder of the working directory, which counts if it has a
 * database already.
 */
export async function settingsWithoutServices(
  environment: Variables,
  dataDir: string,
  place = MACHINE,
): Promise<ServiceSettings> {
  const isUsed = (await ifThere(access(join(dataDir, 'homeport.sqlite')))) !== null;
  const folder = isUsed && !environment.HOMEPORT_DATA_DIR ? { HOMEPORT_DATA_DIR: dataDir } : {};
  return serviceSettings({ ...environment, ...folder }, place);
}

/**
 * Reads the settings of the services from the file. Without it, they come from the environment or the file of an earlier
 * version. Writes nothing. Throws OperatorError.
 */
export async function serviceSettings(environment: Variables, place = MACHINE): Promise<ServiceSettings> {
  const present = await ifThere(readFile(place.file, 'utf8'));
  const earlier = present === null ? await ifThere(readFile(place.earlier, 'utf8')) : null;
  if (present !== null) requireComplete(present, place.file);
  // For its errors, which name the file and the line.
  if (earlier !== null) readConfig({}, place.earlier);
  const text = present ?? (earlier === null ? newText(environment) : extendedSettings(earlier, REQUIRED));
  return {
    config:
      present === null ? readConfig(parseEnv(text)) : requireLinux(readConfig({}, place.file), place.file),
    warning: warningOf(text, environment, place.file),
    async provide({ gid }) {
      if (!(await provideFile(place.file, text, 0o640))) return null;
      // Readable for the control plane only, because it may hold passwords.
      await chown(place.file, -1, gid);
      await chmod(place.file, 0o640);
      if (earlier === null) return `wrote ${place.file}`;
      await rename(place.earlier, place.retired);
      return `moved the settings of ${place.earlier} to ${place.file}`;
    },
  };
}

function newText(environment: Variables): string {
  // Relative paths count from the working directory of set-up.
  const { dataDir } = readConfig(environment);
  const folder = environment.HOMEPORT_DATA_DIR ? { HOMEPORT_DATA_DIR: dataDir } : {};
  return settingsText({ ...environment, ...folder, HOMEPORT_HOST: REQUIRED.HOMEPORT_HOST }, REQUIRED);
}

function requireLinux(config: Config, file: string): Config {
  if (config.host === 'linux') return config;
  throw new OperatorError(`${file} has HOMEPORT_HOST=${config.host}. Write HOMEPORT_HOST=linux there.`);
}

function requireComplete(text: string, file: string): void {
  const missing = missingSettings(text, Object.keys(REQUIRED));
  if (missing.length === 0) return;
  const lines = Object.entries(REQUIRED)
    .filter(([name]) => missing.includes(name))
    .map(([name, value]) => `${name}=${value}`);
  throw new OperatorError(`${file} lacks ${missing.join(' and ')}. Add these lines: ${lines.join(', ')}.`);
}

function warningOf(text: string, environment: Variables, file: string): string | null {
  const differing = differingSettings(text, { ...environment, HOMEPORT_HOST: REQUIRED.HOMEPORT_HOST });
  if (differing.length === 0) return null;
  return (
    `${file} has other values, which apply: ${differing.join(', ')}. Change them there, run this command again, ` +
    `then ${hasSystemd() ? '"systemctl restart homeport-host homeport"' : 'restart Homeport'}`
  );
}
