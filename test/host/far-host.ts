import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endLeftovers } from '../../src/cli/host/end-leftovers.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { createNamespace, type Namespace } from './namespaces.ts';
import { createPreparedMachine } from './prepared.ts';

export const CONTROL_PORT = 7443;

/** A host like another machine: with its own network, and its own users, so that both hosts can have an install of one name. */
export interface FarHost {
  name: string;
  namespace: Namespace;
  machine: TestMachine;
  /** The process of the host. */
  process: ChildProcess;
  /** Requests a page of a website from its edge. */
  visit(hostname: string, path: string): ReturnType<typeof visit>;
  /** Starts the host again after its process has ended. */
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** The process before a host in its namespace: it hides the users of this machine's other hosts. */
const WITH_OWN_USERS = 'mount --bind "$0" /var/lib/extrausers && exec "$@"';

/** Starts a host. `register`: adds it to the control plane by its address, and returns its identity. */
export async function startFarHost(
  name: string,
  folder: string,
  register: (address: string) => Promise<string>,
  more: Record<string, string> = {},
): Promise<FarHost> {
  const namespace = await createNamespace();
  const { address } = namespace;
  const file = join(folder, `${name}.pem`);
  await writeFile(file, await register(`https://${address}:${CONTROL_PORT}`), { mode: 0o600 });
  const users = join(folder, `${name}-users`);
  await mkdir(users);
  for (const one of ['passwd', 'group', 'shadow']) await writeFile(join(users, one), '');
  const machine = await createPreparedMachine({
    HOMEPORT_HOST_LISTEN: `${address}:${CONTROL_PORT}`,
    HOMEPORT_HOST_IDENTITY: file,
    HOMEPORT_EDGE_HTTP: `${address}:80`,
    HOMEPORT_EDGE_HTTPS: `${address}:443`,
    HOMEPORT_SSH_LISTEN: `${address}:22`,
    ...more,
  });
  const script = fileURLToPath(new URL('own-host.ts', import.meta.url));
  const [enter = '', ...rest] = [
    ...namespace.enter,
    ...['/bin/sh', '-c', WITH_OWN_USERS, users, process.execPath, script, machine.instance],
  ];
  const at = (port: number) => ({ host: address, port });
  const host: FarHost = {
    ...{ name, namespace, machine },
    process: await started(),
    visit: (hostname, path) =>
      visit({ hosting: { edgeHttp: at(80), edgeHttps: at(443), ssh: at(22) } }, `http://${hostname}${path}`),
    async start() {
      host.process = await started();
    },
    async remove() {
      if (host.process.exitCode === null && host.process.signalCode === null) {
        host.process.kill('SIGTERM');
        await once(host.process, 'exit');
      } else await endLeftovers(machine.config, silent);
      await machine.remove();
      await namespace.remove();
    },
  };
  return host;

  async function started(): Promise<ChildProcess> {
    const child = spawn(enter, rest, {
      env: { PATH: process.env.PATH ?? '', ...machine.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(`the host ${name} did not start`))),
    ]);
    return child;
  }
}

/** Lays a cable between two hosts, so that their edges reach each other. */
export async function connectHosts(one: FarHost, other: FarHost): Promise<void> {
  const ip = (...args: string[]) => runCommand('/usr/sbin/ip', args);
  const [here, there] = [one, other].map(({ namespace }) => ({
    name: namespace.enter.at(-1) ?? '',
    address: namespace.address,
  }));
  if (here === undefined || there === undefined) return;
  const cable = `hpc${randomBytes(3).toString('hex')}`;
  await ip('-n', here.name, 'link', 'add', cable, 'type', 'veth', 'peer', 'name', cable, 'netns', there.name);
  for (const [from, to] of [
    [here, there],
    [there, here],
  ] as const) {
    await ip('-n', from.name, 'link', 'set', cable, 'up');
    await ip('-n', from.name, 'route', 'add', to.address, 'dev', cable, 'src', from.address);
  }
}
