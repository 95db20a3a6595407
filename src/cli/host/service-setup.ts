import { existsSync, realpathSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { publicFolder } from '../../api/public-certificate.ts';
import type { Config } from '../../config/config.ts';
import { createSystemctl, isRunning } from '../../hosting/linux/daemons/systemctl.ts';
import { linuxLayout } from '../../hosting/linux/machine/layout.ts';
import { replaceFile } from '../../hosting/linux/setup/machine.ts';
import { removeOtherSocket } from '../../hosting/linux/setup/other-socket.ts';
import { beginRestart, startService } from '../../hosting/linux/setup/service-start.ts';
import {
  CONTROL_PLANE_SOCKET,
  CONTROL_PLANE_UNIT,
  controlPlaneSocket,
  controlPlaneUnit,
  HOST_UNIT,
  hostServiceUnit,
} from '../../hosting/linux/setup/service-unit.ts';
import { ifThere } from '../../lib/if-there.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { CONTROL_PLANE_USER, ownProgram, SETTINGS_FILE, withOwnCommand } from '../../lib/own-command.ts';
import { runCommand } from '../../lib/run-command.ts';
import { destinationFolder } from '../../platform-backup/destination.ts';
import { firstSignInFile } from '../platform/first-sign-in.ts';
import { alignedPairs, heading } from '../terminal/output.ts';
import { PROGRAM } from './beside.ts';
import type { ServiceSettings } from './service-settings.ts';
import { tell, warn } from './setup-report.ts';
import { type Account, accountOf, succeedsAs, whyNotAs } from './unprivileged.ts';

/** Folder of the operator's units. */
const UNITS = '/etc/systemd/system';
/** Checks of a starting service for each dot of progress. */
const LOOKS_PER_DOT = 10;
/** Rereading all units takes minutes on a slow machine. */
const RELOAD_MS = 600_000;

/**
 * Writes and starts the services: the host, then the control plane, unless that is on another machine. Waits `waitMs` for
 * each to be ready. Throws OperatorError with what to do.
 */
export async function setUpServices(
  settings: ServiceSettings,
  { waitMs }: { waitMs: number },
): Promise<void> {
  const { config, warning } = settings;
  const account = await controlPlaneAccount(config);
  await tell('settings', () => settings.provide(account));
  await warn('settings', async () => warning);
  const units = unitsOf(account, config);
  const isAlone = hasControlPlane(config);
  if (isAlone) {
    await tell('control plane', async () => {
      await requireReady(account, config);
      return null;
    });
    await warn('platform backup', () => backupFolderFault(account, config));
  }
  const changed = await writeUnits(units);
  const isRemoved = await removeUnwantedSocket(units);
  const isReplaced = isAlone && (await provideSocket(changed));
  const bySocket = isRemoved || isReplaced ? [CONTROL_PLANE_UNIT] : [];
  for (const name of servicesOf(units)) {
    const restart = [...changed, ...bySocket].includes(name);
    await tell('service', () => provideService(name, restart, waitMs));
  }
  process.stdout.write(
    isAlone
      ? summary(config, existsSync(firstSignInFile(config)))
      : withOwnCommand(`\n${HOST_UNIT} runs. "homeport host list" on the control plane shows it.\n`),
  );
}

/**
 * Writes the present units again, and restarts those that run. Services that the operator has stopped or removed stay so. Waits `waitMs` for
 * each to be ready; null: does not wait. Throws OperatorError with what to do.
 */
export async function restartServices(
  { config }: ServiceSettings,
  { waitMs }: { waitMs: number | null },
): Promise<void> {
  const account = await controlPlaneAccount(config);
  const present = unitsOf(account, config).filter(({ name }) => existsSync(unitFile(name)));
  const running = (await createSystemctl('systemctl').show(present.map(({ name }) => name)))
    .filter(isRunning)
    .map(({ id }) => id);
  await replaceUnits(present);
  await removeUnwantedSocket(unitsOf(account, config));
  for (const name of servicesOf(present)) {
    if (running.includes(name)) await tell('service', () => renewService(name, waitMs));
  }
}

/** Restarts the service of an embedded host if it runs. Its unit belongs to the operator (deploy/embedded). */
export async function restartEmbedded({ waitMs }: { waitMs: number | null }): Promise<void> {
  const [service] = await createSystemctl('systemctl').show([CONTROL_PLANE_UNIT]);
  if (service === undefined || !isRunning(service)) return;
  await tell('service', () => renewService(CONTROL_PLANE_UNIT, waitMs));
}

interface Unit {
  name: string;
  text: string;
}

const servicesOf = (units: readonly Unit[]) =>
  units.map(({ name }) => name).filter((name) => name !== CONTROL_PLANE_SOCKET);

/**
 * Lets systemd hold the socket of the control plane, unless it does so already. systemd takes a port only from a stopped service. Returns
 * whether it was stopped.
 */
async function provideSocket(changed: readonly string[]): Promise<boolean> {
  const system = createSystemctl('systemctl');
  const [socket] = await system.show([CONTROL_PLANE_SOCKET]);
  if (!existsSync(unitFile(CONTROL_PLANE_SOCKET))) return false;
  const isOpen = socket !== undefined && isRunning(socket);
  if (isOpen && !changed.includes(CONTROL_PLANE_SOCKET)) return false;
  await system.run('stop', CONTROL_PLANE_SOCKET);
  await system.run('stop', CONTROL_PLANE_UNIT);
  await tell('socket', async () => {
    await system.run('start', CONTROL_PLANE_SOCKET);
    return `${CONTROL_PLANE_SOCKET} listens`;
  });
  return true;
}

const removeUnwantedSocket = async (units: readonly Unit[]) =>
  !units.some(({ name }) => name === CONTROL_PLANE_SOCKET) && (await removeOtherSocket(UNITS));

/** A host with an identity is commanded from other machines. One of several control planes may be beside it; they share a database. */
const hasControlPlane = ({ hostIdentity, databaseUrl }: Config) =>
  hostIdentity === null || databaseUrl !== null;

function unitsOf(account: Account, config: Config): Unit[] {
  const start = { node: process.execPath, program: realpathSync(PROGRAM), settings: SETTINGS_FILE };
  const units = [{ name: HOST_UNIT, text: hostServiceUnit(start) }];
  if (!hasControlPlane(config)) return units;
  const { listen } = config;
  // systemd takes no names, and has no port to hold if the system chooses one.
  if (isIP(listen.host) !== 0 && listen.port !== 0)
    units.push({ name: CONTROL_PLANE_SOCKET, text: controlPlaneSocket(listen) });
  units.push({ name: CONTROL_PLANE_UNIT, text: controlPlane(start, account, config) });
  return units;
}

/** The user that the control plane runs as. */
export async function controlPlaneAccount({ hostGroup }: Config): Promise<Account> {
  const account = await accountOf(CONTROL_PLANE_USER, hostGroup);
  if (account === null) throw new Error(`set-up has made no user ${CONTROL_PLANE_USER}`);
  return account;
}

function controlPlane(
  start: { node: string; program: string; settings: string },
  account: Account,
  config: Config,
): string {
  const { dataDir, hostGroup, listen, metricsListen } = config;
  const backups = backupFolder(config);
  const ports = [listen, metricsListen].flatMap((address) => address?.port ?? []);
  return controlPlaneUnit({
    ...start,
    user: account.name,
    group: hostGroup,
    writable: [dataDir],
    optional: [publicFolder(dataDir), ...(backups === null ? [] : [backups])],
    ports,
  });
}

/** Folder of the daily platform backup, or null. */
function backupFolder({ platformBackup }: Pick<Config, 'platformBackup'>): string | null {
  return platformBackup === null ? null : destinationFolder(platformBackup, '/');
}

/** The reason why the service cannot write the daily platform backup, with a fix; null if it can. */
async function backupFolderFault(account: Account, config: Config): Promise<string | null> {
  const folder = backupFolder(config);
  if (folder === null) return null;
  if (hiddenFrom(folder) !== undefined) {
    return `homeport.service cannot see ${folder}. Name another folder in HOMEPORT_PLATFORM_BACKUP (${SETTINGS_FILE})`;
  }
  if (await succeedsAs(account, ['/usr/bin/test', '-w', folder])) return null;
  return (
    `${account.name} cannot write to ${folder}, or it is not there. Create it: "install -d -o ${account.name} -m 700 ${folder}", ` +
    `then "systemctl restart ${CONTROL_PLANE_UNIT}"`
  );
}

/** The folder above a path that the unit hides (ProtectHome). */
function hiddenFrom(path: string): string | undefined {
  return ['/home/', '/root/', '/run/user/'].find((folder) => `${path}/`.startsWith(folder));
}

/** Throws OperatorError if the control plane cannot run as a service with these settings. */
async function requireReady(account: Account, config: Config): Promise<void> {
  const { dataDir } = config;
  const home = hiddenFrom(dataDir);
  if (home !== undefined) {
    throw new OperatorError(
      `The data folder ${dataDir} is in ${home}, which the control plane cannot see. Move it to /var/lib/homeport, ` +
        `"chown -R ${account.name}: /var/lib/homeport", and set HOMEPORT_DATA_DIR in ${SETTINGS_FILE}.`,
    );
  }
  if (await belongsElsewhere(config)) {
    throw new OperatorError(
      `This machine has websites, but ${dataDir} has no database: another control plane created them. Move its data folder ` +
        `there ("chown -R ${account.name}: ${dataDir}"), or set HOMEPORT_DATA_DIR or HOMEPORT_DATABASE_URL in ${SETTINGS_FILE}.`,
    );
  }
  // Its unit lets it listen on every port.
  const fault = await whyNotAs(account, config, SETTINGS_FILE, { anyPort: true });
  if (fault !== null)
    throw new OperatorError(`The user ${account.name} cannot run the control plane: ${fault}.`);
}

/** A new control plane would treat these websites as orphans. */
async function belongsElsewhere({
  databaseUrl,
  dataDir,
  hostFolder,
  hostRunFolder,
}: Config): Promise<boolean> {
  if (databaseUrl !== null) return false;
  if ((await ifThere(access(join(dataDir, 'homeport.sqlite')))) !== null) return false;
  const records = await ifThere(readdir(linuxLayout(hostFolder, hostRunFolder).records));
  return records !== null && records.length > 0;
}

const unitFile = (name: string) => join(UNITS, name);

/** Names of the units that are new or changed. */
async function replaceUnits(units: Unit[]): Promise<string[]> {
  const changed: string[] = [];
  for (const { name, text } of units) {
    if (await replaceFile(unitFile(name), text, 0o644)) changed.push(name);
  }
  if (changed.length > 0) await runCommand('systemctl', ['daemon-reload'], { timeoutMs: RELOAD_MS });
  return changed;
}

/** Names of the units that are new or changed. All of them start with the machine from now on. */
async function writeUnits(units: Unit[]): Promise<string[]> {
  const changed = await replaceUnits(units);
  await runCommand('systemctl', ['enable', '--quiet', ...units.map(({ name }) => name)], {
    timeoutMs: RELOAD_MS,
  });
  return changed;
}

async function renewService(unit: string, waitMs: number | null): Promise<string | null> {
  if (waitMs !== null) return provideService(unit, true, waitMs);
  await beginRestart(unit);
  return `restarting ${unit}`;
}

async function provideService(unit: string, restart: boolean, waitMs: number): Promise<string | null> {
  let looks = 0;
  const onWaiting = () => {
    if (looks === 0) process.stdout.write(`starting ${unit} `);
    if (looks++ % LOOKS_PER_DOT === 0) process.stdout.write('.');
  };
  try {
    if (!(await startService({ unit, restart, waitMs, onWaiting }))) return null;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(
      `${error.message}\nFix that (settings: ${SETTINGS_FILE}) and run this command again; "--wait <seconds>" waits longer. ` +
        `systemd keeps trying. The whole log: journalctl -u ${unit}`,
      { cause: error },
    );
  }
  return `${looks === 0 ? '' : ' '}${unit} is ready`;
}

function summary(config: Config, hasFirstSignIn: boolean): string {
  const { publicUrl, dataDir } = config;
  const signIn: [string, string][] = hasFirstSignIn
    ? [['First sign-in', `sudo cat ${firstSignInFile(config)}; then delete it`]]
    : [];
  return [
    `\n${heading('Homeport runs, and starts with this machine')}`,
    alignedPairs([
      ['Portal', `${publicUrl}/`],
      ...signIn,
      ['Settings', `${SETTINGS_FILE}; after a change: systemctl restart ${HOST_UNIT} ${CONTROL_PLANE_UNIT}`],
      ['Data', dataDir],
      ['Log', `journalctl -u ${CONTROL_PLANE_UNIT} -u ${HOST_UNIT}`],
      ['Commands', `sudo -u ${CONTROL_PLANE_USER} ${ownProgram()} --config ${SETTINGS_FILE} doctor`],
    ]),
  ].join('\n');
}
