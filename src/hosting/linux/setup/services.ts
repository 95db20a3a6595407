import { mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../machine/run-command.ts';

/** Services that Debian runs of the packages that Homeport needs; it runs the programs itself, configured otherwise. */
const OF_PACKAGES = /^(nginx|php\d+\.\d+-fpm|mariadb|redis-server)\.service$/;

/** Where the machine's services are found; a test has its own. */
export interface ServicesPlace {
  systemctl: string;
  /** Units as packages bring them. */
  packageUnits: string;
  /** Units as the operator has written them, and what is masked. */
  operatorUnits: string;
  /** The services that were there before Homeport, one a line. Written once. */
  before: string;
}

/** Each change makes systemd read all units again, which takes a minute on a machine that is slow or busy. */
const CHANGE_MS = 600_000;

const MACHINE: ServicesPlace = {
  systemctl: 'systemctl',
  packageUnits: '/usr/lib/systemd/system',
  operatorUnits: '/etc/systemd/system',
  before: '/etc/homeport/services-before',
};

/**
 * Remembers which services the operator had before the first set-up. To be called before packages are installed: what comes
 * later is Homeport's, even where a set-up is broken off between the installation and {@link stopServices}.
 */
export async function noteServices(place = MACHINE): Promise<void> {
  if ((await ifThere(readFile(place.before, 'utf8'))) !== null) return;
  await mkdir(dirname(place.before), { recursive: true });
  const units = await unitsOf(place);
  await writeDurably(place.before, units.map((unit) => `${unit}\n`).join(''));
}

/** What was done about the services of the packages. */
export interface StoppedServices {
  /** Those that are stopped now, and that nothing starts any more. */
  masked: string[];
  /** Those that run, or will when the machine starts, because the operator had them before. */
  left: string[];
}

/** Sees that no service that came with Homeport's packages runs beside its daemons. Needs systemd. */
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
    // Disabled first: its other names, like mysql.service, are links that masking leaves.
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

/** What stands where units are masked by a link to nowhere. Everything else there is the operator's `own`, which masking leaves. */
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
