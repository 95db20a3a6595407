import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, readConfig } from '../../config/config.ts';
import { enableExtrausers } from '../../hosting/linux/isolation/unix-users.ts';
import { makeHostFolders } from '../../hosting/linux/machine/host-folders.ts';
import { linuxLayout } from '../../hosting/linux/machine/layout.ts';
import { changeableByOthers } from '../../hosting/linux/setup/foreign-writers.ts';
import {
  addToGroup,
  ensureControlPlaneUser,
  ensureGroup,
  missingAbilities,
  requireDebian,
} from '../../hosting/linux/setup/machine.ts';
import { installPackages, missingPackages } from '../../hosting/linux/setup/packages.ts';
import { noteServices, stopServices } from '../../hosting/linux/setup/services.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { CONTROL_PLANE_USER, SETTINGS_FILE, withOwnCommand } from '../../lib/own-command.ts';
import { providePortal } from '../platform/portal-build.ts';
import { provideProgram } from '../platform/program-build.ts';
import { PROGRAM } from './beside.ts';
import { CONTROL_PLANE_HOME, serviceSettings, settingsWithoutServices } from './service-settings.ts';
import { controlPlaneAccount, restartEmbedded, restartServices, setUpServices } from './service-setup.ts';
import { tell, warn } from './setup-report.ts';
import { serveInstalled } from './upgrade/kept-service.ts';

/**
 * Prepares this machine to run websites and prints each step. `packagesOnly` installs the packages only. With systemd it also
 * starts the services and waits `waitMs` for each to be ready. Throws OperatorError.
 */
export async function setUp(
  given: Config,
  { packagesOnly, waitMs }: { packagesOnly: boolean; waitMs: number },
): Promise<void> {
  process.stdout.write(`Preparing this machine (${await requireDebian()})\n`);
  await tell('packages', providePackages);
  if (hasSystemd()) await tellOfServices();
  if (packagesOnly) return;
  const settings = hasSystemd()
    ? await serviceSettings(process.env)
    : await settingsWithoutServices(process.env, given.dataDir);
  await prepareMachine(settings.config);
  if (hasSystemd()) {
    // The drop-in of a return is left if the package was removed in the middle.
    await serveInstalled();
    return setUpServices(settings, { waitMs });
  }
  const account = await controlPlaneAccount(settings.config);
  await tell('settings', () => settings.provide(account));
  await warn('settings', async () => settings.warning);
  process.stdout.write(
    withOwnCommand(
      `\nThere is no systemd here. Next, as root:\n  homeport serve        runs the websites and the control plane, with the settings in ${SETTINGS_FILE}\n`,
    ),
  );
}

/**
 * Writes the units of this version and restarts the services that run, and waits `waitMs` for each. Installs nothing, because the upgrade of
 * a package has apt's lock. Throws OperatorError.
 */
export async function renewServices({ waitMs }: { waitMs: number | null }): Promise<void> {
  if (!hasSystemd())
    throw new OperatorError('There is no systemd here, so there are no services to restart.');
  await serveInstalled();
  if (existsSync(SETTINGS_FILE) && readConfig({}, SETTINGS_FILE).host === 'embedded')
    return restartEmbedded({ waitMs });
  await restartServices(await serviceSettings(process.env), { waitMs });
}

async function prepareMachine(config: Config): Promise<void> {
  const { hostGroup, hostFolder, hostRunFolder } = config;
  const person = process.env.SUDO_USER;
  await tell('group', async () => ((await ensureGroup(hostGroup)) ? `made ${hostGroup}` : null));
  await tell('user', async () =>
    (await ensureControlPlaneUser(CONTROL_PLANE_USER, hostGroup, CONTROL_PLANE_HOME))
      ? `created ${CONTROL_PLANE_USER} for the control plane`
      : null,
  );
  if (person !== undefined && person !== 'root') {
    await tell('access', async () =>
      (await addToGroup(person, hostGroup))
        ? `${person} may use the host's socket from the next login`
        : null,
    );
  }
  await tell('names', async () =>
    (await enableExtrausers()) ? 'enabled users of installs (nsswitch.conf: extrausers)' : null,
  );
  await tell('folders', async () =>
    (await makeHostFolders(linuxLayout(hostFolder, hostRunFolder))) ? `made ${hostFolder}` : null,
  );
  // The control plane cannot write to root's program, so root builds it and the portal.
  await tell('portal', async () => {
    const { folder, build } = await providePortal();
    await build;
    return build === null ? null : `built into ${folder}`;
  });
  await tell('program', async () => ((await provideProgram()) ? 'built' : null));
  await tell('sandboxes', async () => {
    const faults = await missingAbilities();
    if (faults.length > 0) throw new OperatorError(`This machine cannot run websites: ${faults.join('; ')}.`);
    return null;
  });
  await warn('program', () => whyNotRootsAlone(config));
}

async function providePackages(): Promise<string | null> {
  const missing = await missingPackages();
  await noteServices();
  if (missing.length === 0) return null;
  await installPackages(missing);
  return `installed ${missing.join(', ')}`;
}

/** Other servers would take Homeport's ports, or open what Homeport isolates. */
export async function tellOfServices(): Promise<void> {
  let left: string[] = [];
  await tell('services', async () => {
    const stopped = await stopServices();
    left = stopped.left;
    return stopped.masked.length > 0 ? `stopped and masked ${stopped.masked.join(', ')}` : null;
  });
  await warn('services', async () => (left.length > 0 ? warningOfServices(left) : null));
}

function warningOfServices(left: string[]): string {
  return (
    `${left.join(', ')}: installed before Homeport and left running. A PHP or a database that the web server's user can reach ` +
    `breaks the isolation between websites. If you do not need it: systemctl mask --now ${left.join(' ')}`
  );
}

function programFolder(): string {
  return dirname(dirname(realpathSync(PROGRAM)));
}

/** Root runs this program: anyone who can change it has root's rights. */
async function whyNotRootsAlone({ dataDir }: Config): Promise<string | null> {
  const found =
    (await changeableByOthers(programFolder(), { except: dataDir })) ??
    (await changeableByOthers(realpathSync(process.execPath)));
  if (found === null) return null;
  const folder = programFolder();
  // npm 9 leaves files of packages to the user ids of those who packed them.
  const remedy = found.startsWith(`${folder}/`)
    ? `Run: chown -R root: ${folder} && chmod -R go-w ${folder}`
    : 'Install it where only root can write, as root: /opt/homeport';
  return `root will run this program, and other users can change ${found}. ${remedy}`;
}
