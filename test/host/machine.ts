import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { type RunningMachine, startHostMachine } from '../../src/app/linux-host.ts';
import type { MachineSurroundings } from '../../src/app/linux-host-machine.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import type { CodeFolders } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import { hostsFolder } from '../memory-folder.ts';
import { isLong } from '../rounds.ts';
import { drawOwn } from '../servers/draw-own.ts';
import { freePort } from '../servers/free-port.ts';
import { wordpressCore } from './wordpress-core.ts';

/** A test's own Linux host on this machine, with unique folders, ports, users and name. */
export interface TestMachine {
  /** Settings for the host and for a control plane beside it. */
  environment: Record<string, string>;
  config: Config;
  instance: string;
  folder: string;
  runFolder: string;
  /** Starts the host, also after a stop. It compiles WordPress in the long tests only: that takes 2 s of a processor, more than all pages of a test. */
  start(surroundings?: Partial<MachineSurroundings>): Promise<RunningMachine>;
  /** Stops and removes everything. */
  remove(): Promise<void>;
}

/** Variable that tells other processes of a machine the folders that it shares. */
const CODE = 'TEST_HOST_CODE';

/** The folders that the machine of this process shares. */
export function codeOfProcess(): CodeFolders | undefined {
  const given = process.env[CODE];
  return given === undefined
    ? undefined
    : Value.Parse(Type.Object({ cores: Type.String(), compiled: Type.String() }), JSON.parse(given));
}

/** First user id of installs of test hosts, a hundred for each machine. */
const FIRST_UID = 400_000;
const UIDS = 100;

export async function createTestMachine(
  more: Record<string, string> = {},
  { log = silent, code }: { log?: Logger; code?: CodeFolders } = {},
): Promise<TestMachine> {
  const word = randomBytes(4).toString('hex');
  // All parents belong to root, as sshd and the sandbox require. Short, because a socket's path has at most 107 bytes.
  const folder = `${hostsFolder()}/hpt-${word}`;
  const runFolder = `/run/hpt-${word}`;
  const first = FIRST_UID + drawOwn(0, 5_000) * UIDS;
  const [http, https, ssh] = [await freePort(), await freePort(), await freePort()];
  const environment = {
    HOMEPORT_HOST: 'linux',
    HOMEPORT_HOST_FOLDER: folder,
    HOMEPORT_HOST_RUN_FOLDER: runFolder,
    HOMEPORT_HOST_GROUP: 'root',
    HOMEPORT_HOST_UIDS: `${first}-${first + UIDS - 1}`,
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${http}`,
    HOMEPORT_EDGE_HTTPS: `127.0.0.1:${https}`,
    HOMEPORT_SSH_LISTEN: `127.0.0.1:${ssh}`,
    HOMEPORT_SITE_DOMAIN: 'sites.test',
    HOMEPORT_WORDPRESS_SOURCE: wordpressCore(),
    HOMEPORT_WP_CLI_SOURCE: 'none',
    ...(code === undefined ? {} : { [CODE]: JSON.stringify(code) }),
    ...more,
  };
  const config = readConfig(environment);
  const instance = `t${word}`;
  let running: RunningMachine | null = null;

  return {
    environment,
    config,
    instance,
    folder,
    runFolder,
    async start(surroundings = {}) {
      running = await startHostMachine(config, {
        log,
        instance,
        compilesWordpress: isLong,
        code,
        ...surroundings,
      });
      const { stop } = running;
      return {
        ...running,
        stop: async () => {
          running = null;
          await stop();
        },
      };
    },
    async remove() {
      await running?.stop();
      const users = createUnixUsers({ instance, uids: config.hostUids });
      for (const { installId } of await users.list()) await users.remove(installId);
      await users.setRelays([]);
      const cgroups = createCgroups({ instance, log });
      for (const name of await cgroups.list()) await cgroups.remove(name);
      // Its folder goes with the last of them, and may be gone.
      await cgroups.remove('none');
      await runCommand('nft', ['delete', 'table', 'inet', `homeport_${instance}`]).catch(() => {});
      // Node needs twice the processor time for the thousands of files of WordPress.
      await runCommand('rm', ['-rf', folder, runFolder]);
    },
  };
}
