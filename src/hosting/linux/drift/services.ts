import type { DaemonStatus } from '../machine/daemon.ts';
import { findPhpRuntimes, missingModules } from '../machine/php-runtimes.ts';
import { checked, type Fault, type Finding, LOOK_AT_THE_LOG } from './finding.ts';
import type { InspectedHost } from './inspect.ts';

/** What all websites of the machine share. */
export async function inspectServices(host: InspectedHost): Promise<Finding[]> {
  const { daemons, firewall, ssh, web } = host;
  const findings: Finding[] = [];
  for (const name of ['nginx', 'mariadb', 'sshd']) {
    const running = async () => notRunning(await daemons.list(), name, () => daemons.restart(name));
    findings.push(...(await checked(name, running)));
  }
  // Once brings back all of it.
  const mendWeb = once(() => web.mend());
  return [
    ...findings,
    ...(await checked('firewall', async () => faults([await firewall.check()], () => firewall.ensure()))),
    ...(await checked('ssh', async () => faults([await ssh.check()], () => ssh.start()))),
    ...(await checked('web server', async () => faults(await web.check(), mendWeb))),
    ...(await inspectPhp(host)),
  ];
}

/** Null is no fault. */
export function faults(messages: (string | null)[], mend: () => Promise<void>): Fault[] {
  return messages
    .filter((message) => message !== null)
    .map((message) => ({ message, mend, remedy: LOOK_AT_THE_LOG }));
}

export function notRunning(daemons: DaemonStatus[], name: string, mend: () => Promise<void>): Fault[] {
  const state = daemons.find((status) => status.name === name)?.state;
  if (state === 'running') return [];
  return faults([state === undefined ? 'It was never started.' : `It does not run (${state}).`], mend);
}

/** A PHP without what WordPress needs gives websites that half work. */
async function inspectPhp({ layout }: InspectedHost): Promise<Finding[]> {
  return (await findPhpRuntimes(layout)).flatMap((runtime) => {
    const missing = missingModules(runtime);
    if (missing.length === 0) return [];
    const message = `It lacks ${missing.join(', ')}, which WordPress needs.`;
    const remedy =
      'Install the packages of these extensions; on the machine itself "homeport host setup" does.';
    return [{ thing: `PHP ${runtime.version}`, message, mend: null, remedy }];
  });
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
