import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { upgradeFiles } from '../../../app/upgrade-copy.ts';
import { type Config, readConfig } from '../../../config/config.ts';
import { SETTINGS_FILE } from '../../../lib/own-command.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { controlPlaneAccount } from '../service-setup.ts';
import { commandAs } from '../unprivileged.ts';
import { PACKAGE } from './packages.ts';
import { becomeReady } from './readiness.ts';
import { endUpgrade, type UpgradeState, writeUpgradeState } from './state.ts';

/** Exit codes of `homeport upgrade`, besides 0 and those of every command. */
export const RETURNED = 3;
export const NEEDS_OPERATOR = 4;

const say = (line: string) => process.stdout.write(`==> ${line}\n`);

/**
 * Carries out an upgrade from where its state is, and returns to the former version if the new one does not become ready. Returns the exit
 * code. The program runs from the files that were kept, because dpkg replaces the installed ones.
 */
export async function finishUpgrade(state: UpgradeState, { waitMs }: { waitMs: number }): Promise<number> {
  surviveTerminal();
  const { services, former, next } = state;
  const config = services.length > 0 ? readConfig({}, SETTINGS_FILE) : null;
  if (state.step === 'install') {
    say(`Installing Homeport ${next.version}`);
    const words = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', next.file];
    const installed = await run('apt-get', words);
    if (!installed && (await installedVersion()) === former.version) {
      await clear(config);
      await endUpgrade();
      say(`apt did not install it, for the reason above. Homeport ${former.version} runs as before.`);
      return 1;
    }
    if (installed && config !== null)
      say(`Waiting until Homeport ${next.version} is ready, ${waitMs / 1000} s at most`);
    if (installed && (config === null || (await becomeReady(services, config, waitMs)))) {
      await clear(config);
      await endUpgrade();
      say(
        config === null
          ? `Homeport ${next.version} is installed. No service of it runs here: restart what you started yourself.`
          : `Homeport ${next.version} is ready. The upgrade is complete.`,
      );
      return 0;
    }
    say(`Homeport ${next.version} did not become ready. Returning to ${former.version}`);
    await writeUpgradeState({ ...state, step: 'return' });
  } else say(`Returning to Homeport ${former.version}`);
  return returnToFormer(state, config, waitMs);
}

async function returnToFormer(state: UpgradeState, config: Config | null, waitMs: number): Promise<number> {
  const { former, next, schema, services } = state;
  // The former version puts the database back when it starts, and the new one refuses to start from now on.
  if (config !== null) await asControlPlane(config, ['tee', upgradeFiles(config).returnTo], schema);
  const isInstalled = await run('dpkg', ['--install', former.file]);
  if (isInstalled && (config === null || (await becomeReady(services, config, waitMs)))) {
    if (config !== null) await clear(config, { keepNewer: true });
    await endUpgrade();
    say(`Homeport ${former.version} is ready again, with the database from before the upgrade.`);
    if (config !== null && config.databaseUrl === null)
      say(`If ${next.version} changed the database, that one is in ${upgradeFiles(config).newer}.`);
    say(
      `The reason is in the log: journalctl -u homeport -u homeport-host. Report it with "homeport support-bundle".`,
    );
    return RETURNED;
  }
  say(
    `Homeport ${former.version} does not become ready either. Look at journalctl -u homeport -u homeport-host, then run "homeport upgrade" again, ` +
      'which goes on with the return. The platform backup from before the upgrade is whole.',
  );
  return NEEDS_OPERATOR;
}

/** An upgrade that ends with its terminal would leave the machine between two versions. */
function surviveTerminal(): void {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const)
    process.on(signal, () => say('The upgrade goes on, because it cannot stop here.'));
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
}

/** Runs a program in a separate session, so that no signal of the terminal reaches it. Returns whether it succeeded. */
async function run(program: string, words: readonly string[]): Promise<boolean> {
  const child = spawn(program, words, {
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const [status]: unknown[] = await once(child, 'exit');
  return status === 0;
}

async function installedVersion(): Promise<string> {
  const format = `--showformat=\${db:Status-Status} \${Version}`;
  const { stdout } = await runCommand('dpkg-query', ['--show', format, PACKAGE]);
  return stdout.replace(/^installed /, '');
}

/** Runs a program as the user of the data folder, because that user could lead root elsewhere by links. */
export async function asControlPlane(config: Config, command: readonly string[], input = ''): Promise<void> {
  const [file, ...words] = commandAs(await controlPlaneAccount(config), command);
  await runCommand(file, words, { input });
}

async function clear(config: Config | null, { keepNewer = false } = {}): Promise<void> {
  if (config === null) return;
  const { folder, wanted, copy, returnTo } = upgradeFiles(config);
  const gone = keepNewer ? [wanted, copy, returnTo] : [folder];
  await asControlPlane(config, ['rm', '-rf', '--', ...gone]);
}
