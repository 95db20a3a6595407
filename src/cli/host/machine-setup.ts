import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/config.ts';
import { hasSystemd } from '../../hosting/linux/daemons/systemd.ts';
import { makeHostFolders } from '../../hosting/linux/host-folders.ts';
import { enableExtrausers } from '../../hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../hosting/linux/layout.ts';
import { runCommand } from '../../hosting/linux/run-command.ts';
import {
  addToGroup,
  ensureControlPlaneUser,
  ensureGroup,
  missingAbilities,
  provideFile,
  replaceFile,
  requireDebian,
} from '../../hosting/linux/setup/machine.ts';
import { changeableByOthers } from '../../hosting/linux/setup/own-alone.ts';
import { installPackages, missingPackages } from '../../hosting/linux/setup/packages.ts';
import { hostServiceUnit } from '../../hosting/linux/setup/service-unit.ts';
import { noteServices, stopServices } from '../../hosting/linux/setup/services.ts';
import { differingSettings, settingsText } from '../../hosting/linux/setup/settings-file.ts';
import { OperatorError } from '../../operator-error.ts';
import { coloured } from '../output.ts';
import { providePortal } from '../portal-build.ts';
import { CONTROL_PLANE_USER } from './control-plane-user.ts';

const SETTINGS_FILE = '/etc/homeport/host.conf';
const UNIT = 'homeport-host.service';
const CONTROL_PLANE_HOME = '/var/lib/homeport';
const PROGRAM = realpathSync(fileURLToPath(new URL('../../../bin/homeport.mjs', import.meta.url)));

/** Makes this machine ready to run websites, and says what was done; with `packagesOnly` nothing but the packages. */
export async function setUp(config: Config, packagesOnly: boolean): Promise<void> {
  process.stdout.write(`Making this machine ready (${await requireDebian()})\n`);
  await tell('packages', providePackages);
  if (hasSystemd()) await tellOfServices();
  if (packagesOnly) return;
  const { hostGroup, hostFolder, hostRunFolder } = config;
  const person = process.env.SUDO_USER;
  await tell('group', async () => ((await ensureGroup(hostGroup)) ? `made ${hostGroup}` : null));
  await tell('user', async () =>
    (await ensureControlPlaneUser(CONTROL_PLANE_USER, hostGroup, CONTROL_PLANE_HOME))
      ? `made ${CONTROL_PLANE_USER}, for the control plane`
      : null,
  );
  if (person !== undefined && person !== 'root') {
    await tell('access', async () =>
      (await addToGroup(person, hostGroup))
        ? `${person} may use the host's socket; it counts from their next log-in`
        : null,
    );
  }
  await tell('names', async () =>
    (await enableExtrausers()) ? 'users of installs are found (nsswitch.conf: extrausers)' : null,
  );
  await tell('folders', async () =>
    (await makeHostFolders(linuxLayout(hostFolder, hostRunFolder))) ? `made ${hostFolder}` : null,
  );
  await tell('portal', async () => {
    const { folder, built } = await providePortal();
    return built ? `built into ${folder}` : null;
  });
  await tell('sandboxes', async () => {
    const faults = await missingAbilities();
    if (faults.length > 0) throw new OperatorError(`This machine cannot run websites: ${faults.join('; ')}.`);
    return null;
  });
  await warn('program', () => whyNotRootsAlone(config));
  if (!hasSystemd()) {
    process.stdout.write(
      '\nThere is no systemd here. Next:\n' +
        '  npx homeport host &                  runs the websites and supervises their daemons; as root\n' +
        '  HOMEPORT_HOST=linux npm start        the API\n',
    );
    return;
  }
  await tell('settings', async () =>
    (await provideFile(SETTINGS_FILE, settingsText(process.env), 0o600)) ? `wrote ${SETTINGS_FILE}` : null,
  );
  await warn('settings', whatIsNotInForce);
  await tell('service', provideService);
  process.stdout.write('\nNext:\n  HOMEPORT_HOST=linux npm start        the API\n');
}

async function providePackages(): Promise<string | null> {
  const missing = await missingPackages();
  await noteServices();
  if (missing.length === 0) return null;
  await installPackages(missing);
  return `installed ${missing.join(', ')}`;
}

/** Another server beside Homeport's would take its ports, or open to everybody what Homeport keeps apart. */
async function tellOfServices(): Promise<void> {
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
    `${left.join(', ')}: here before Homeport, and left running. Homeport runs its own; a PHP or a database that the web server's ` +
    `user reaches besides is a way around the walls between websites. If you do not need it: systemctl mask --now ${left.join(' ')}`
  );
}

async function provideService(): Promise<string | null> {
  const unit = hostServiceUnit({ node: process.execPath, program: PROGRAM, settings: SETTINGS_FILE });
  const changed = await replaceFile(`/etc/systemd/system/${UNIT}`, unit, 0o644);
  if (changed) await runCommand('systemctl', ['daemon-reload']);
  await runCommand('systemctl', ['enable', '--quiet', UNIT]);
  await runCommand('systemctl', [changed ? 'restart' : 'start', UNIT], { timeoutMs: 300_000 });
  return changed ? `wrote and started ${UNIT}` : null;
}

/** Root runs this program: whoever can change it has root's rights. */
async function whyNotRootsAlone({ dataDir }: Config): Promise<string | null> {
  const folder = dirname(dirname(PROGRAM));
  const found =
    (await changeableByOthers(folder, { except: dataDir })) ??
    (await changeableByOthers(realpathSync(process.execPath)));
  if (found === null) return null;
  return (
    `root will run this program, and others than root can change ${found}. Install it where root alone may write, ` +
    'as root: /opt/homeport'
  );
}

/** A file that is there is its operator's, and stays as it is. */
async function whatIsNotInForce(): Promise<string | null> {
  const differing = differingSettings(await readFile(SETTINGS_FILE, 'utf8'), process.env);
  if (differing.length === 0) return null;
  return (
    `not in force, for ${SETTINGS_FILE} was there and has them otherwise: ${differing.join(', ')}. ` +
    `Write them there, then: systemctl restart ${UNIT}`
  );
}

/** A line only where there is something that its reader should mend. */
async function warn(about: string, look: () => Promise<string | null>): Promise<void> {
  const fault = await look();
  if (fault !== null) process.stdout.write(`  ${about.padEnd(12)}${coloured(fault, 'yellow')}\n`);
}

/** One line: what it is about, then what was done, or that nothing had to be. */
async function tell(about: string, work: () => Promise<string | null>): Promise<void> {
  process.stdout.write(`  ${about.padEnd(12)}`);
  try {
    const done = await work();
    process.stdout.write(done === null ? 'as it should be\n' : `${coloured(done, 'green')}\n`);
  } catch (error) {
    process.stdout.write(`${coloured('failed', 'red')}\n`);
    throw error;
  }
}
