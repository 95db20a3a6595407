import { upgradeFiles } from '../../../app/upgrade-copy.ts';
import { type Config, readConfig } from '../../../config/config.ts';
import { createSystemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
import { SETTINGS_FILE } from '../../../lib/own-command.ts';
import { reportFailure } from '../../terminal/report-failure.ts';
import { controlPlaneAccount } from '../service-setup.ts';
import { runAs, succeedsAs } from '../unprivileged.ts';
import { configurePackage, finishInterrupted, installedVersion, packageVersion, runDpkg } from './dpkg.ts';
import { serveInstalled, serveKept } from './kept-service.ts';
import { startsOf, whyNotReady } from './readiness.ts';
import { courseOf, endUpgrade, type UpgradeState, upgradePaths, writeUpgradeState } from './state.ts';
import { run, surviveTerminal } from './surviving-terminal.ts';

/** Exit codes of `homeport upgrade`, besides 0 and those of every command. */
export const RETURNED = 3;
export const NEEDS_OPERATOR = 4;

const say = (line: string) => process.stdout.write(`==> ${line}\n`);

/** Parts of the settings; null where there is nothing to do with them. */
interface Settings {
  /** Of the services that have to run. */
  config: Config | null;
  /** Of the control plane, whose database is copied and put back. */
  platform: Config | null;
}

/**
 * Carries out an upgrade from where its state is, and returns to the former version if the new one does not become ready. Returns the exit
 * code. The program runs from the files that were kept, because dpkg replaces the installed ones.
 */
export async function finishUpgrade(state: UpgradeState, { waitMs }: { waitMs: number }): Promise<number> {
  surviveTerminal(() => say('The upgrade goes on, because it cannot stop here.'));
  const { services, former, next } = state;
  const config = services.length > 0 ? readConfig({}, SETTINGS_FILE) : null;
  const platform = services.includes(CONTROL_PLANE_UNIT) ? config : null;
  const installed = await packageVersion();
  switch (courseOf(state, { installed, ...(await notesOf(platform)) })) {
    case 'install':
      return install(state, { config, platform }, waitMs);
    case 'return':
      say(`Returning to Homeport ${former.version}`);
      return returnToFormer(state, { config, platform }, waitMs);
    case 'look':
      return look(state, { config, platform }, waitMs);
    case 'forget':
      // An interrupted return can have left the drop-in, and the kept files are deleted.
      await serveInstalled();
      await clear(platform, { keepNewer: true });
      await endUpgrade();
      say(
        `This machine has ${installed === '' ? 'no Homeport' : `Homeport ${installed}`} now, so the upgrade from ${former.version} to ${next.version} is forgotten. Run "homeport upgrade" again for another one.`,
      );
      return 1;
  }
}

async function install(state: UpgradeState, settings: Settings, waitMs: number): Promise<number> {
  const { former, next, services, starts } = state;
  const { config, platform } = settings;
  say(`Installing Homeport ${next.version}`);
  await finishInterrupted(next.file);
  const words = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', next.file];
  const isInstalled = (await run('apt-get', words)) === 0;
  if (!isInstalled && (await installedVersion()) === former.version) {
    await clear(platform);
    await endUpgrade();
    say(`apt did not install it, for the reason above. Homeport ${former.version} runs as before.`);
    return 1;
  }
  // The package's script restarts only what runs, and a connection could have started the control plane at any time.
  for (const unit of isInstalled ? services : []) await createSystemctl('systemctl').beginStart(unit);
  const fault = isInstalled
    ? await faultOf(next.version, state, config, { waitMs, before: starts })
    : 'apt could not install it';
  if (fault === null) return complete(state, settings);
  say(`Homeport ${next.version} did not become ready: ${fault}. Returning to ${former.version}`);
  await writeUpgradeState({ ...state, step: 'return' });
  return returnToFormer(state, settings, waitMs);
}

/** The reason why the services of a version are not ready; null if they are, and without services. */
async function faultOf(
  version: string,
  { services }: UpgradeState,
  config: Config | null,
  { waitMs, before }: { waitMs: number; before: readonly string[] },
): Promise<string | null> {
  if (config === null) return null;
  say(`Waiting until Homeport ${version} is ready`);
  return whyNotReady(services, config, { waitMs, before, report: say });
}

async function complete({ next }: UpgradeState, { config, platform }: Settings): Promise<number> {
  await clear(platform);
  await endUpgrade();
  say(
    config === null
      ? `Homeport ${next.version} is installed. No service of it runs here: restart what you started yourself.`
      : `Homeport ${next.version} is ready. The upgrade is complete.`,
  );
  return 0;
}

/** The new version was ready after an upgrade that was interrupted. A return would lose what it has written since. */
async function look(state: UpgradeState, settings: Settings, waitMs: number): Promise<number> {
  const { former, next } = state;
  const { config } = settings;
  if (!(await configurePackage(next.version))) {
    say(
      `dpkg could not finish the installation of Homeport ${next.version}, for the reason above. Fix that, then run "homeport upgrade" again.`,
    );
    return NEEDS_OPERATOR;
  }
  const fault = await faultOf(next.version, state, config, { waitMs, before: state.starts });
  if (fault === null) return complete(state, settings);
  say(
    `Homeport ${next.version} is not ready (${fault}), but was after the upgrade. A return to ${former.version} would lose what was changed since, so nothing was changed now. ` +
      'Look at journalctl -u homeport -u homeport-host, then run "homeport upgrade" again, which looks again, or install another version with apt-get.',
  );
  return NEEDS_OPERATOR;
}

async function returnToFormer(
  state: UpgradeState,
  { config, platform }: Settings,
  waitMs: number,
): Promise<number> {
  const { former, next, schema, services } = state;
  if (platform !== null) {
    const { folder, returnTo } = upgradeFiles(platform);
    // The former version puts the database back when it starts, and the new one refuses to start from now on.
    await asControlPlane(platform, ['mkdir', '--parents', '--mode=700', folder]);
    await asControlPlane(platform, ['tee', returnTo], schema);
    // Later writes would be lost.
    await createSystemctl('systemctl').run('stop', CONTROL_PLANE_UNIT);
    await serveKept(upgradePaths().tree);
  }
  // apt refuses packages beside a broken one.
  const isUnpacked = await runDpkg(['--unpack', former.file]);
  // The kept files are deleted in the end, so a service that runs from them is not the one to wait for.
  const before = await startsOf(services);
  const isInstalled = isUnpacked && (await configurePackage(former.version));
  // The package's script does so unless the units are elsewhere or it fails.
  if (isInstalled && (await serveInstalled()))
    await createSystemctl('systemctl').run('stop', CONTROL_PLANE_UNIT);
  // The package's script restarts only what runs.
  for (const unit of services) await createSystemctl('systemctl').beginStart(unit);
  const fault = isInstalled
    ? await faultOf(former.version, state, config, { waitMs, before })
    : `dpkg could not install Homeport ${former.version}, for the reason above`;
  if (fault === null) {
    await clear(platform, { keepNewer: true });
    await endUpgrade();
    say(
      platform === null
        ? `Homeport ${former.version} is installed again.`
        : `Homeport ${former.version} is ready again, with the database from before the upgrade.`,
    );
    if (platform !== null && platform.databaseUrl === null)
      say(`If ${next.version} changed the database, that one is in ${upgradeFiles(platform).newer}.`);
    say(
      `The reason is in the log: journalctl -u homeport -u homeport-host. Report it with "homeport support-bundle".`,
    );
    return RETURNED;
  }
  say(
    `${isInstalled ? `Homeport ${former.version} does not become ready either: ${fault}` : fault}. Look at journalctl -u homeport -u homeport-host, then run "homeport upgrade" again, ` +
      `which goes on with the return.${platform === null ? '' : ' The platform backup from before the upgrade is whole.'}`,
  );
  return NEEDS_OPERATOR;
}

async function notesOf(platform: Config | null): Promise<{ isReturning: boolean; hasServed: boolean }> {
  if (platform === null) return { isReturning: false, hasServed: false };
  const { returnTo, served } = upgradeFiles(platform);
  const account = await controlPlaneAccount(platform);
  const has = (path: string) => succeedsAs(account, ['/usr/bin/test', '-e', path]);
  return { isReturning: await has(returnTo), hasServed: await has(served) };
}

/** The exit code of a step of an upgrade that has begun. An error that stops it, such as a full disk, is reported here: 1 means that nothing was changed. */
export async function orNeedsOperator(step: () => Promise<number>): Promise<number> {
  try {
    return await step();
  } catch (error) {
    reportFailure(error);
    say('The upgrade stopped. Fix the fault above, then run "homeport upgrade" again, which goes on.');
    return NEEDS_OPERATOR;
  }
}

/** Runs a program as the user of the data folder, because that user could lead root elsewhere by links. */
export async function asControlPlane(config: Config, command: readonly string[], input = ''): Promise<void> {
  await runAs(await controlPlaneAccount(config), command, input);
}

async function clear(config: Config | null, { keepNewer = false } = {}): Promise<void> {
  if (config === null) return;
  const { folder, wanted, copy, served, returnTo } = upgradeFiles(config);
  const gone = keepNewer ? [wanted, copy, served, returnTo] : [folder];
  await asControlPlane(config, ['rm', '-rf', '--', ...gone]);
}
