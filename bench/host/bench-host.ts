import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { sendSignal } from '../../src/hosting/linux/daemons/leftovers.ts';
import { createSupervisor } from '../../src/hosting/linux/daemons/supervisor.ts';
import { createSystemdDaemons } from '../../src/hosting/linux/daemons/systemd.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { connectHost, type RemoteHost } from '../../src/hosting/remote/client.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { hasSystemd } from '../../src/lib/has-systemd.ts';
import { silent } from '../../test/database.ts';
import { type Visit, visit } from '../../test/edge.ts';
import { createTestMachine, type TestMachine } from '../../test/host/machine.ts';
import { withCleanup } from './cleanup.ts';

const stepDone = Type.Object({ step: Type.String(), id: Type.String(), at: Type.Number() });

/** A completed step of creating a website, with its install's id and the time in milliseconds since 1970. */
export type StepDone = Type.Static<typeof stepDone>;

/** A Linux host for the bench, in a separate process. */
export interface BenchHost {
  machine: TestMachine;
  layout: LinuxLayout;
  /** Process id of the host. */
  pid: number;
  /** The host, called at its socket as by the control plane. */
  remote: RemoteHost;
  /** In order of completion. */
  steps: StepDone[];
  /** The page that a visitor of `<name>.sites.test` gets. */
  visit(name: string, headers?: Record<string, string>): Promise<Visit>;
}

/** A larger range than test hosts use, without overlap. */
const UIDS = 2_000;
const FIRST_UID = 950_000;
const ENDS_WITHIN_MS = 120_000;

/** Capacity of this machine for that many installs. */
export function createBenchMachine(environment: Record<string, string> = {}): Promise<TestMachine> {
  const first = FIRST_UID + randomInt(20) * UIDS;
  return createTestMachine({
    HOMEPORT_HOST_UIDS: `${first}-${first + UIDS - 1}`,
    HOMEPORT_HOST_CAPACITY: String(UIDS),
    ...environment,
  });
}

/** Runs a host, with further settings, during `work` and removes all of it afterwards. */
export async function withBenchHost<Result>(
  work: (host: BenchHost) => Promise<Result>,
  environment: Record<string, string> = {},
): Promise<Result> {
  const machine = await createBenchMachine(environment);
  const started: { child?: ChildProcess; remote?: RemoteHost } = {};
  const cleanup = async () => {
    await started.remote?.close();
    if (started.child !== undefined) await end(started.child);
    await removeTraces(machine);
  };
  return withCleanup(cleanup, async () => {
    const child = startProcess(machine);
    started.child = child;
    const steps: StepDone[] = [];
    await untilReady(child, (line) => void steps.push(Value.Parse(stepDone, JSON.parse(line))));
    const remote = connectHost({ name: 'bench', socket: `${machine.runFolder}/host.sock` });
    started.remote = remote;
    const { edgeHttp, edgeHttps, sshListen: ssh } = machine.config;
    return work({
      machine,
      layout: linuxLayout(machine.folder, machine.runFolder),
      pid: child.pid ?? 0,
      remote,
      steps,
      visit: (name, headers) =>
        visit({ hosting: { edgeHttp, edgeHttps, ssh } }, `http://${name}.sites.test/`, headers),
    });
  });
}

function startProcess(machine: TestMachine): ChildProcess {
  const script = fileURLToPath(new URL('host-process.ts', import.meta.url));
  return spawn(process.execPath, [script, machine.instance], {
    env: { PATH: process.env.PATH ?? '', ...machine.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C goes to the bench, which stops the host cleanly.
    detached: true,
  });
}

/** `onLine` gets the process's output lines after it is ready. */
async function untilReady(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  if (child.stdout === null) throw new Error('the host has no output');
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.withResolvers<void>();
  child.once('error', ready.reject);
  child.once('exit', (code) => ready.reject(new Error(`the host ended with code ${code}`)));
  lines.on('line', (line) => (line === 'ready' ? ready.resolve() : onLine(line)));
  await ready.promise;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
    await ended;
    clearTimeout(kill);
  }
  // A host that had not started yet ends without waiting for its running programs.
  if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
}

/** Removes all remains of a host of that machine, even of a killed one. */
export async function removeTraces(machine: TestMachine): Promise<void> {
  const { instance, runFolder } = machine;
  const cgroups = createCgroups({ instance, log: silent });
  const daemons = hasSystemd()
    ? createSystemdDaemons({ instance, log: silent })
    : createSupervisor({ runFolder, cgroups, log: silent, clock: systemClock });
  await daemons.start();
  for (const { name } of await daemons.list()) await daemons.remove(name);
  await machine.remove();
  // The last host to end removes the shared folder, which the first one created.
  await createCgroups({ instance, log: silent }).remove('none');
}
