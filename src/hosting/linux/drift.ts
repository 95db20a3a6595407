import { readdir } from 'node:fs/promises';
import type { Difference, InstallRef } from '../host.ts';
import type { DaemonStatus } from './daemon.ts';
import { checkHome } from './isolation/folders.ts';
import type { LinuxHostParts } from './linux-host.ts';
import { findPhpRuntimes, missingModules } from './php/runtimes.ts';
import { phpDaemon, redisDaemon, type Website, type WebsiteSteps } from './provisioning.ts';
import type { InstallRecord } from './record.ts';

/** A difference with what would mend it; null where that is not the host's to do. */
interface Finding {
  thing: string;
  message: string;
  mend: (() => Promise<void>) | null;
  /** What to do where the host does not, or could not. */
  remedy: string;
}

export interface InspectedHost extends LinuxHostParts {
  steps: WebsiteSteps;
  websiteOf(record: InstallRecord): Promise<Website>;
  /** Work on one install at a time. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Databases of an exchange of tables under way. Like `<database>_new`, which a restore loads into, what is left of them is taken
 * away when the install is next brought up.
 */
const PASSING = /^hp_(exchange|replaced)_/;

/** Prefixes of what belongs to one install among what is named alike: the rest is the host's own. */
const OF_INSTALLS = /^(?:php|redis|install)-([0-9a-f-]{36})$/;

/**
 * Compares the machine with the records, and those with `expected`, what the control plane has placed here. Data of which
 * nobody knows whose it is are named and left alone: to delete them is for a person.
 */
export async function inspectMachine(
  host: InspectedHost,
  expected: InstallRef[],
  repair: boolean,
): Promise<Difference[]> {
  const records = await host.records.all();
  const findings = [
    ...(await inspectServices(host)),
    ...(await inspectPhp(host)),
    ...(await inspectVhosts(host, records)),
    ...unexpected(records, expected),
    ...missing(records, expected),
    ...(await leftovers(host, [...records.map(({ state }) => state), ...(await host.journal.unfinished())])),
  ];
  const differences = await mended(findings, repair);
  for (const record of records) {
    const { id } = record.state;
    // Under the install's own turn, so that what is just being changed is not taken for wrong.
    differences.push(
      ...(await host.serially(id, async () => {
        const present = await host.records.read(id);
        return present === null ? [] : mended(await inspectInstall(host, present), repair);
      })),
    );
  }
  return differences;
}

async function mended(findings: Finding[], repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { thing, message, mend, remedy } of findings) {
    if (!repair || mend === null) {
      const offered = mend === null ? remedy : '"homeport doctor --host --repair" mends it.';
      differences.push({ thing, message, mended: repair ? false : null, remedy: offered });
      continue;
    }
    try {
      await mend();
      differences.push({ thing, message, mended: true, remedy: null });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      differences.push({ thing, message: `${message} Mending it failed: ${reason}`, mended: false, remedy });
    }
  }
  return differences;
}

const LOOK_AT_THE_LOG = 'Look at the log of "homeport host", which has the end of what it wrote.';

async function inspectServices({ daemons, firewall, ssh }: InspectedHost): Promise<Finding[]> {
  const states = new Map((await daemons.list()).map((status) => [status.name, status]));
  const findings: Finding[] = ['nginx', 'mariadb', 'sshd'].flatMap((name) =>
    notRunning(states, name, name, () => daemons.restart(name)),
  );
  const open = await firewall.check();
  if (open !== null) {
    findings.push({
      thing: 'firewall',
      message: open,
      mend: () => firewall.ensure(),
      remedy: LOOK_AT_THE_LOG,
    });
  }
  const locked = await ssh.check();
  if (locked !== null) {
    findings.push({ thing: 'ssh', message: locked, mend: () => ssh.start(), remedy: LOOK_AT_THE_LOG });
  }
  return findings;
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

async function inspectVhosts({ web }: InspectedHost, records: InstallRecord[]): Promise<Finding[]> {
  const vhosts = records.map(({ state, placement }) => ({ state, ...placement }));
  const faults = await web.check(vhosts);
  // Once brings back all of it.
  const mend = once(() => web.start(vhosts));
  return faults.map((message) => ({ thing: 'web server', message, mend, remedy: LOOK_AT_THE_LOG }));
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function notRunning(
  states: Map<string, DaemonStatus>,
  name: string,
  thing: string,
  mend: () => Promise<void>,
): Finding[] {
  const state = states.get(name)?.state;
  if (state === 'running') return [];
  const message = state === undefined ? 'It was never started.' : `It does not run (${state}).`;
  return [{ thing, message, mend, remedy: LOOK_AT_THE_LOG }];
}

/** Records of which the control plane knows nothing. */
function unexpected(records: InstallRecord[], expected: InstallRef[]): Finding[] {
  const known = new Set(expected.map(({ id }) => id));
  return records
    .filter(({ state }) => !known.has(state.id))
    .map(({ state }) => ({
      thing: `install ${state.name}`,
      message: 'It is served here, and the control plane has no such install on this host.',
      mend: null,
      remedy: `If nobody needs it any more, take it away: homeport host forget <this host> ${state.id}`,
    }));
}

function missing(records: InstallRecord[], expected: InstallRef[]): Finding[] {
  const here = new Set(records.map(({ state }) => state.id));
  return expected
    .filter(({ id }) => !here.has(id))
    .map(({ name }) => ({
      thing: `install ${name}`,
      message: 'The control plane has it on this host, and it is not here.',
      mend: null,
      remedy: `homeport installs apply ${name} makes it anew; homeport backup restore brings its content back.`,
    }));
}

async function inspectInstall(host: InspectedHost, record: InstallRecord): Promise<Finding[]> {
  const { layout, users, databases, daemons, websites, steps } = host;
  const { id, name } = record.state;
  const { uid, database } = record.placement;
  const of = (part: string) => `install ${name}: ${part}`;
  const findings: Finding[] = [];
  const add = (part: string, message: string, mend: Finding['mend'], remedy = LOOK_AT_THE_LOG) =>
    findings.push({ thing: of(part), message, mend, remedy });
  const website = await host.websiteOf(record);

  const user = await users.find(id);
  if (user === null) {
    add('unix user', `There is no user ${name}.`, async () => void (await steps.sandboxOf(website)));
  } else if (user.uid !== uid) {
    const chown = `Its files are those of user id ${uid}.`;
    add(
      'unix user',
      `It has the user id ${user.uid}. ${chown}`,
      null,
      'Give the user its old id in /var/lib/extrausers.',
    );
  }
  if (!(await databases.list()).includes(database)) {
    const remedy = `homeport backup restore brings it back.`;
    add('database', `There is no database ${database}.`, null, remedy);
  }
  const folders = user === null ? [] : await checkHome(layout, await steps.sandboxOf(website));
  for (const fault of folders) add('folders', fault, () => steps.makeFolders(website));
  const files =
    user === null || folders.length > 0 ? [] : await websites.checkFiles(await steps.sandboxOf(website));
  for (const fault of files) add('files', fault, () => steps.makeFiles(website));
  const states = new Map((await daemons.list()).map((status) => [status.name, status]));
  findings.push(
    ...notRunning(states, redisDaemon(id), of('redis'), () => steps.startRedis(website)),
    ...notRunning(states, phpDaemon(id), of('php'), () => steps.startPhp(website)),
  );
  return findings;
}

/** What belongs to none of `owners`, the installs that are there, being made or being removed. */
async function leftovers(host: InspectedHost, owners: { id: string }[]): Promise<Finding[]> {
  const recorded = new Set(owners.map(({ id }) => id));
  const { layout, users, databases, daemons, cgroups } = host;
  const findings: Finding[] = [];
  const unknown = (name: string) => {
    const id = OF_INSTALLS.exec(name)?.[1];
    return id !== undefined && !recorded.has(id);
  };
  const add = (thing: string, mend: Finding['mend'], remedy = LOOK_AT_THE_LOG) =>
    findings.push({ thing, message: 'It belongs to no install of this host.', mend, remedy });

  for (const { name } of (await daemons.list()).filter((daemon) => unknown(daemon.name))) {
    add(`daemon ${name}`, () => daemons.remove(name));
  }
  for (const name of (await cgroups.list()).filter(unknown)) {
    add(`cgroup ${name}`, async () => {
      await cgroups.kill(name);
      await cgroups.remove(name);
    });
  }
  for (const { installId, name } of await users.list()) {
    if (!recorded.has(installId)) add(`unix user ${name}`, () => users.remove(installId));
  }
  const owned = new Set((await host.records.all()).map(({ placement }) => placement.database));
  const unowned = (name: string) => !PASSING.test(name) && !owned.has(name.replace(/_new$/, ''));
  for (const database of (await databases.list()).filter(unowned)) {
    add(`database ${database}`, null, 'Look into it; "drop database" in mariadb removes it.');
  }
  for (const id of await readdir(layout.installs)) {
    if (!recorded.has(id)) add(`folder ${layout.homeOf(id)}`, null, 'Look into it, then remove it.');
  }
  return findings;
}
