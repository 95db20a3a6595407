import { mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';

/** Services that Debian starts for the packages. Homeport runs these programs itself, with other configurations. */
const OF_PACKAGES = /^(nginx|php\d+\.\d+-fpm|mariadb|redis-server)\.service$/;

/** Paths of the machine's services; tests use their own. */
export interface ServicesPlace {
  systemctl: string;
  /** Units from packages. */
  packageUnits: string;
  /** The operator's units, and masks. */
  operatorUnits: string;
  /** Services that existed before Homeport, one per line. Written once. */
  before: string;
}

/** Each change makes systemd reload all units, which takes a minute on a slow or busy machine. */
const CHANGE_MS = 600_000;

const MACHINE: ServicesPlace = {
  systemctl: 'systemctl',
  packageUnits: '/usr/lib/systemd/system',
  operatorUnits: '/etc/systemd/system',
  before: '/etc/homeport/services-before',
};

/**
 * Records the operator's services at the first setup. Call it before packages are installed: services that appear later belong
 * to Homeport, even if a setup is interrupted between the installation and {@link stopServices}.
 */
export async function noteServices(place = MACHINE): Promise<void> {
  if ((await ifThere(readFile(place.before, 'utf8'))) !== null) return;
  await mkdir(dirname(place.before), { recursive: true });
  const units = await unitsOf(place);
  await writeDurably(place.before, units.map((unit) => `${unit}\n`).join(''));
}

/** What happened to the services of the packages. */
export interface StoppedServices {
  /** Services that are stopped now and will not start again. */
  masked: string[];
  /** Services that run, or will after a reboot, because the operator already had them. */
  left: string[];
}

/** Stops the services of Homeport's packages, which would run beside its daemons. Needs systemd. */
export async function stopServices(place = MACHINE): Promise<StoppedServices> {
  const before = new Set((await ifThere(readFile(place.before, 'utf8')))?.split('\n'));
  const done: StoppedServices = { masked: [], left: [] };
  for (const unit of await unitsOf(place)) {
    const { isRunning, isEnabled } = await stateOf(unit, place);
    const link = await linkAt(join(place.operatorUnits, unit));
    if (before.has(unit) || link === 'own') {
      if (isRunning || isEnabled) done.left.push(unit);
    } else if (isRunning || link !== 'masked') {
      done.masked.push(unit);
    }
  }
  if (done.masked.length > 0) {
    // Disable first: aliases like mysql.service are links that masking leaves.
    await runCommand(place.systemctl, ['disable', '--quiet', ...done.masked], { timeoutMs: CHANGE_MS });
    await runCommand(place.systemctl, ['mask', '--quiet', '--now', ...done.masked], { timeoutMs: CHANGE_MS });
  }
  return done;
}

async function unitsOf(place: ServicesPlace): Promise<string[]> {
  const found = await Promise.all([place.packageUnits, place.operatorUnits].map(namesIn));
  return [...new Set(found.flat())].filter((name) => OF_PACKAGES.test(name)).sort();
}

async function stateOf(
  unit: string,
  { systemctl }: ServicesPlace,
): Promise<{ isRunning: boolean; isEnabled: boolean }> {
  const { stdout } = await runCommand(systemctl, ['show', '--property=UnitFileState,ActiveState', unit], {
    timeoutMs: CHANGE_MS,
  });
  return {
    isRunning: !/^ActiveState=(inactive|failed)$/m.test(stdout),
    isEnabled: /^UnitFileState=enabled/m.test(stdout),
  };
}

/** Units masked by links to nowhere. Everything else there is the operator's `own`, which masking leaves alone. */
async function linkAt(path: string): Promise<'masked' | 'own' | null> {
  try {
    return (await readlink(path)) === '/dev/null' ? 'masked' : 'own';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    if (hasCode(error, 'EINVAL')) return 'own';
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}
