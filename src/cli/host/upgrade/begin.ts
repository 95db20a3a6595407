import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OWN_SCHEMA, upgradeFiles } from '../../../app/upgrade-copy.ts';
import { type Config, readConfig } from '../../../config/config.ts';
import { createSystemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
import { hasSystemd } from '../../../lib/has-systemd.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { PROGRAM_FOLDER, SETTINGS_FILE } from '../../../lib/own-command.ts';
import { PROGRAM_VERSION } from '../../../lib/program-version.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { destinationFolder } from '../../../platform-backup/destination.ts';
import { requireConsent } from '../../terminal/confirm.ts';
import { alignedPairs } from '../../terminal/output.ts';
import { PROGRAM } from '../beside.ts';
import { controlPlaneAccount } from '../service-setup.ts';
import { showAs } from '../unprivileged.ts';
import { asControlPlane } from './finish.ts';
import { keepInstalledFiles, rebuildPackage } from './former-package.ts';
import { requireRoom, type StoredData } from './needs.ts';
import { downloadRelease, newestRelease, type OfferedPackage, packageOfFile } from './offered-package.ts';
import { otherInstallation } from './other-installations.ts';
import {
  fileOfPackage,
  installedPackage,
  isNewer,
  nativeArchitecture,
  type PackageFacts,
  requireWhole,
  SLOW_MS,
} from './packages.ts';
import { startsOf } from './readiness.ts';
import { requireSameServices, servingUnits, UNITS } from './serving-units.ts';
import {
  aloneUpgrading,
  readUpgradeState,
  UPGRADE_FOLDER,
  upgradePaths,
  writeUpgradeState,
} from './state.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** Of platform backups, if no other place is configured. */
const BACKUPS = '/var/backups/homeport';

const say = (line: string) => process.stdout.write(`==> ${line}\n`);

export interface UpgradeOptions {
  check: boolean;
  yes: boolean;
  /** Whether to go on without enough room on the disks. */
  ignoreRoom: boolean;
  /** Seconds. */
  wait: number;
}

/** Upgrades the package, or goes on with an unfinished upgrade. Returns the exit code. Throws OperatorError before anything has changed. */
export async function upgrade(
  given: string | undefined,
  config: Config,
  { wait, ...options }: UpgradeOptions,
): Promise<number> {
  const isReady = await aloneUpgrading(() => prepareUpgrade(given, config, options));
  return isReady ? runKept(wait) : 0;
}

/** Whether there is an upgrade to carry out. */
async function prepareUpgrade(
  given: string | undefined,
  config: Config,
  { check, yes, ignoreRoom }: Omit<UpgradeOptions, 'wait'>,
): Promise<boolean> {
  const unfinished = await readUpgradeState();
  if (unfinished !== null) {
    say(`An upgrade from ${unfinished.former.version} to ${unfinished.next.version} is unfinished`);
    return !check;
  }
  const installed = await installedPackage(ROOT);
  if (installed === null) throw new OperatorError(otherInstallation(ROOT, given));
  await requireWhole();
  const { folder, packages } = upgradePaths();
  const settings = existsSync(SETTINGS_FILE) ? readConfig({}, SETTINGS_FILE) : config;
  const services = await presentServices();
  const data = storedData(settings, services);
  const formerBytes = installed.installedBytes;
  // The new program has about the size of the present one, until the package says more.
  const requireRoomFor = (packageBytes: number) =>
    requireRoom({ packageBytes, nextBytes: formerBytes, formerBytes }, data, { isIgnored: ignoreRoom });
  try {
    const offered = await findPackage(given, settings, { folder: packages, check, requireRoomFor });
    if (offered === null) return false;
    await requireFitting(offered, installed);
    describe(offered, installed);
    if (check) return false;
    if (!yes) {
      await requireConsent('Upgrade now?', {
        effect: 'An upgrade restarts the services.',
        kept: 'Nothing was changed.',
      });
    }
    const sizes = { packageBytes: 0, nextBytes: offered.facts.installedBytes, formerBytes };
    await requireRoom(sizes, data, { isIgnored: ignoreRoom });
    await prepare(offered, installed, { config: settings, services });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    if (check) await rm(folder, { recursive: true, force: true });
  }
  return true;
}

/** Throws OperatorError, which says what to do, unless this program is from the package, or the one that an upgrade has kept. */
export async function refuseOtherInstallation(given: string | undefined): Promise<void> {
  const isKept = ROOT.startsWith(`${UPGRADE_FOLDER}/`);
  if (!isKept && (await installedPackage(ROOT)) === null)
    throw new OperatorError(otherInstallation(ROOT, given));
}

async function findPackage(
  given: string | undefined,
  { releasesUrl }: Config,
  {
    folder,
    check,
    requireRoomFor,
  }: { folder: string; check: boolean; requireRoomFor(packageBytes: number): Promise<void> },
): Promise<OfferedPackage | null> {
  await rm(folder, { recursive: true, force: true });
  const place = { folder, root: ROOT, requireRoomFor };
  if (given !== undefined) return packageOfFile(given, place);
  if (releasesUrl === null) {
    throw new OperatorError(
      `HOMEPORT_RELEASES_URL names no list of releases. Set it in ${SETTINGS_FILE}, or give the file of a package: "homeport upgrade ./homeport_VERSION_amd64.deb".`,
    );
  }
  const release = await newestRelease(releasesUrl, PROGRAM_VERSION);
  if (release === null) {
    process.stdout.write(`Homeport ${PROGRAM_VERSION} is the newest.\n`);
    return null;
  }
  if (check) {
    process.stdout.write(
      `Homeport ${release.version} of ${release.date} is available; this is ${PROGRAM_VERSION}. Changes: ${release.notes}\n`,
    );
    return null;
  }
  say(`Downloading Homeport ${release.version}`);
  return downloadRelease(releasesUrl, release, place);
}

async function requireFitting({ facts, file }: OfferedPackage, installed: PackageFacts): Promise<void> {
  if (facts.architecture !== (await nativeArchitecture()))
    throw new OperatorError(`${file} is for ${facts.architecture}, and this machine is another one.`);
  if (await isNewer(facts.version, installed.version)) return;
  throw new OperatorError(
    facts.version === installed.version
      ? `Homeport ${installed.version} is installed already.`
      : `Homeport ${installed.version} is newer than ${facts.version}. docs/install.md says how to return to a former version.`,
  );
}

function describe({ facts, notes, verified }: OfferedPackage, installed: PackageFacts): void {
  const schema =
    facts.schema === '' || facts.schema === OWN_SCHEMA
      ? `${OWN_SCHEMA}${facts.schema === '' ? '; the package does not say whether it changes' : ', unchanged'}`
      : `${OWN_SCHEMA} becomes ${facts.schema}`;
  process.stdout.write(
    alignedPairs([
      ['Version', `${installed.version} becomes ${facts.version}`],
      ['Schema', schema],
      ['Changes', notes],
      ['Package', verified],
    ]),
  );
}

/** The services that have to run afterwards. */
const presentServices = async () =>
  hasSystemd() ? servingUnits(await createSystemctl('systemctl').show(UNITS)) : [];

/** The database that the upgrade copies; null without a control plane that serves. */
function storedData(config: Config, services: readonly string[]): StoredData | null {
  if (!services.includes(CONTROL_PLANE_UNIT)) return null;
  const backups = config.platformBackup === null ? BACKUPS : destinationFolder(config.platformBackup, '/');
  return { config, backups };
}

/** Everything that is done before anything changes: backup, and the former package. The state comes last. */
async function prepare(
  offered: OfferedPackage,
  installed: PackageFacts,
  { config, services }: { config: Config; services: readonly string[] },
): Promise<void> {
  const isServed = services.includes(CONTROL_PLANE_UNIT);
  const { folder, tree, packages } = upgradePaths();
  if (isServed) await backUp(config);
  say(`Keeping Homeport ${installed.version}`);
  await keepInstalledFiles(tree);
  const former = fileOfPackage(packages, installed);
  await rebuildPackage(tree, former);
  requireSameServices(services, await presentServices());
  if (isServed) await wantCopy(config);
  // The state must not outlive these files in a power cut.
  const written = [folder, ...(isServed ? [config.dataDir] : [])];
  await runCommand('sync', ['--file-system', ...written], { timeoutMs: SLOW_MS });
  await writeUpgradeState({
    step: 'install',
    former: { version: installed.version, file: former },
    next: { version: offered.facts.version, file: offered.file },
    schema: OWN_SCHEMA,
    services: [...services],
    starts: await startsOf(services),
  });
}

async function backUp(config: Config): Promise<void> {
  const account = await controlPlaneAccount(config);
  const given = config.platformBackup === null ? [BACKUPS] : [];
  say(`Backing up the platform to ${config.platformBackup ?? BACKUPS}`);
  if (config.platformBackup === null) {
    await mkdir(BACKUPS, { recursive: true, mode: 0o700 });
    await runCommand('chown', ['--no-dereference', `${account.uid}:${account.gid}`, BACKUPS]);
  }
  const words = [
    process.execPath,
    PROGRAM,
    '--config',
    SETTINGS_FILE,
    'platform',
    'backup',
    'create',
    ...given,
  ];
  const status = await showAs(account, words);
  if (status !== 0) throw new OperatorError('The platform could not be backed up. Nothing was changed.');
}

/** The server copies its database right before it migrates, when no one writes any more. */
async function wantCopy(config: Config): Promise<void> {
  const { folder, wanted } = upgradeFiles(config);
  await asControlPlane(config, ['rm', '-rf', '--', folder]);
  await asControlPlane(config, ['mkdir', '--mode=700', folder]);
  await asControlPlane(config, ['tee', wanted]);
}

/** Goes on in the kept program, in a session that outlives this terminal. */
async function runKept(wait: number): Promise<number> {
  const program = join(upgradePaths().tree, PROGRAM_FOLDER, 'homeport');
  say(`If this is interrupted: ${program} upgrade`);
  const child = spawn(program, ['upgrade', '--resume', '--wait', String(wait)], {
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [status]: unknown[] = await once(child, 'exit');
  return typeof status === 'number' ? status : 1;
}
