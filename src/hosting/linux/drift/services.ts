import type { Daemons } from '../machine/daemon.ts';
import { missingPackages } from '../setup/packages.ts';
import { checked, type Fault, type Finding, faults, notRunning, READ_THE_LOG } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';
import { inspectPhp } from './php.ts';

/** Inspects the parts that all websites of the machine share. */
export async function inspectServices(host: InspectedHost): Promise<Finding[]> {
  const { daemons, firewall, ssh, web } = host;
  const findings: Finding[] = [];
  for (const name of ['nginx', 'mariadb', 'sshd']) {
    const running = async () => notRunning(await daemons.list(), name, () => repairDaemon(daemons, name));
    findings.push(...(await checked(name, running)));
  }
  // One call repairs all faults of the web server.
  const repairWeb = once(() => web.repair());
  return [
    ...findings,
    ...(await checked('firewall', async () => faults([await firewall.check()], () => firewall.ensure()))),
    ...(await checked('ssh', async () => faults([await ssh.check()], () => ssh.start()))),
    ...(await checked('web server', async () => faults(await web.check(), repairWeb))),
    ...(await checked('other edges', async () => checkOtherEdges(host))),
    ...(await checked('packages', checkPackages)),
    ...(await checked('mariadb', async () => checkShares(host))),
    ...(await checked('mail', () => checkMail(host))),
    ...(await checked('usage', async () => checkUsage(host))),
    ...(await inspectPhp(host)),
    ...(await checked('WP-CLI', () => checkWpCli(host))),
  ];
}

/** Starts a daemon again. A restart would end the recovery of a database after a crash, which then begins again. */
export function repairDaemon(daemons: Pick<Daemons, 'restart' | 'untilReady'>, name: string): Promise<void> {
  return name === 'mariadb' ? daemons.untilReady(name) : daemons.restart(name);
}

async function checkOtherEdges({ web }: InspectedHost): Promise<Fault[]> {
  const remedy =
    'Let the machines reach each other at port 8471, or set HOMEPORT_EDGE_FORWARD to an address that the others reach (docs/several-machines.md). Customers do not see the addresses of this machine for websites of one that it never reached.';
  return (await web.checkOtherEdges()).map((message) => ({ message, repair: null, remedy }));
}

async function checkMail({ mail }: InspectedHost): Promise<Fault[]> {
  const message = await mail.check();
  if (message === null) return [];
  const remedy =
    'Check HOMEPORT_RELAY_URL and HOMEPORT_RELAY_CREDENTIALS there. Messages wait for up to 3 days.';
  return [{ message, repair: null, remedy }];
}

function checkShares({ databaseShares }: InspectedHost): Fault[] {
  const reason = databaseShares.check();
  if (reason === null) return [];
  const message = `Busy connections do not wait for those of other websites: ${reason}`;
  return [{ message, repair: null, remedy: READ_THE_LOG }];
}

function checkUsage({ usage, layout }: InspectedHost): Fault[] {
  const reason = usage.fault();
  if (reason === null) return [];
  const message = `The counts of requests cannot be stored in ${layout.usage}: ${reason}.`;
  const remedy =
    'Free disk space there, or repair the file system. The host keeps counting, and tries again every 10 seconds. Until then, a restart loses counts. While the file cannot be opened, the access logs of websites wait, too, and lose lines beyond 80 MiB.';
  return [{ message, repair: null, remedy }];
}

async function checkPackages(): Promise<Fault[]> {
  const missing = await missingPackages();
  if (missing.length === 0) return [];
  const message = `The machine lacks the Debian packages ${missing.join(', ')}.`;
  return [{ message, repair: null, remedy: 'Run "homeport host setup" there.' }];
}

async function checkWpCli({ wpCliPhar }: InspectedHost): Promise<Fault[]> {
  const message = await wpCliPhar.check();
  if (message === null) return [];
  const remedy =
    'Let the machine reach HOMEPORT_WP_CLI_URL, or name a phar or "none" in HOMEPORT_WP_CLI_SOURCE.';
  return [{ message, repair: async () => void (await wpCliPhar.add(null)), remedy }];
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
