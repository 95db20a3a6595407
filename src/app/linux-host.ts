import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import type { HostMachine } from '../hosting/contract/host.ts';
import type { HostQuestions } from '../hosting/contract/questions.ts';
import { reservePorts } from '../hosting/linux/isolation/reserved-ports.ts';
import { makeHostFolders } from '../hosting/linux/machine/host-folders.ts';
import { requireEdgePackages } from '../hosting/linux/setup/packages.ts';
import { type HostIdentity, parseIdentity } from '../hosting/remote/identity.ts';
import { createHostServer } from '../hosting/remote/server.ts';
import { messageOf } from '../lib/error-message.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { runCommand } from '../lib/run-command.ts';
import {
  createHostMachine,
  forwardAddressOf,
  layoutOf,
  type MachineSurroundings,
} from './linux-host-machine.ts';
import { startTracing } from './start-tracing.ts';

export interface RunningMachine {
  host: HostMachine;
  /** Port of the mutual TLS listener; null without one. */
  tlsPort: number | null;
  stop(): Promise<void>;
}

/**
 * Runs the websites of this machine and accepts commands for them at its socket and, if configured, by mutual TLS.
 * Throws OperatorError for faults that the operator can fix.
 */
export async function startHostMachine(
  config: Config,
  surroundings: MachineSurroundings,
): Promise<RunningMachine> {
  const { log } = surroundings;
  // First, so that a wrong configuration ends it before anything is created.
  await requireEdgePackages();
  const gid = await groupId(config.hostGroup);
  const identity = config.hostIdentity === null ? null : await readIdentity(config.hostIdentity);
  await makeHostFolders(layoutOf(config));
  await reservePorts(portsOf(config), { log });
  const questions: HostQuestions = {
    sshLogin: (...question) => server.questions.sshLogin(...question),
    sshRelay: (...question) => server.questions.sshRelay(...question),
    backupPassword: (...question) => server.questions.backupPassword(...question),
  };
  const host = createHostMachine(config, questions, identity?.hostId ?? null, surroundings);
  const tracing = await startTracing('-host', config, surroundings);
  const server = createHostServer({ host, log, trace: tracing?.command });
  const stop = async () => {
    try {
      await server.close();
    } finally {
      await host.stop();
      await tracing?.stop();
    }
  };
  try {
    await host.start();
    await server.listenUnix(layoutOf(config).hostSocket, { gid });
    const tlsPort = await listenTls();
    return { host, tlsPort, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function listenTls(): Promise<number | null> {
    if (config.hostListen === null) return null;
    if (identity === null) {
      throw new OperatorError(
        'HOMEPORT_HOST_LISTEN needs HOMEPORT_HOST_IDENTITY: the file that "homeport host add" wrote on the control plane.',
      );
    }
    return server.listenTls(config.hostListen, identity);
  }
}

/** Every port of the platform on a machine with both control plane and websites. */
function portsOf(config: Config): number[] {
  const { listen, metricsListen, edgeHttp, edgeHttps, sshListen, hostListen } = config;
  const addresses = [
    listen,
    metricsListen,
    edgeHttp,
    edgeHttps,
    forwardAddressOf(config),
    sshListen,
    hostListen,
  ];
  return addresses.flatMap((address) => address?.port ?? []);
}

async function readIdentity(file: string): Promise<HostIdentity> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new OperatorError(`The identity of this host cannot be read: ${reason}.`, { cause: error });
  }
  return parseIdentity(text);
}

/** The id of a group. Throws OperatorError if the group does not exist. */
async function groupId(name: string): Promise<number> {
  try {
    const { stdout } = await runCommand('getent', ['group', name]);
    return Number(stdout.split(':')[2]);
  } catch (error) {
    throw new OperatorError(
      `There is no group ${name}: "homeport host setup" makes it, or name another one in HOMEPORT_HOST_GROUP.`,
      { cause: error },
    );
  }
}
