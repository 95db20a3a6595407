import { mapConcurrent, tryWithin } from '../../../lib/concurrency.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Difference } from '../../contract/host.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { JournalEntry } from '../machine/journal.ts';
import type { InstallRecord } from '../machine/record.ts';
import type { StartRetries } from '../websites/start-retries.ts';
import { inspectBackupPlaces } from './backup-places.ts';
import { checked, checkFailed, type Fault, type Finding, READ_THE_LOG, toDifferences } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';
import { inspectInstall } from './install.ts';
import { type InstallResource, resourceKinds, unowned } from './install-resources.ts';
import { inspectServices } from './services.ts';

/** How many installs are inspected concurrently. */
const AT_ONCE = 8;
/** An install that is locked by other work for longer is skipped. */
const LOCK_WITHIN_MS = 5_000;

/**
 * Compares the machine with the records, and the records with `expected`: the installs that the control plane has placed here.
 * Each install is inspected and repaired while it is locked, by its current record, so that work in progress is not reported.
 * Data without a known owner is only reported: deleting it is up to a person.
 */
export async function inspectMachine(
  host: InspectedHost,
  expected: InstallRef[],
  isRepairing: boolean,
): Promise<Difference[]> {
  // The host describes them as they are now.
  await host.walls.measure();
  // First, because the other checks need them.
  const services = await toDifferences(await inspectServices(host), isRepairing);
  const names = new Map(expected.map(({ id, name }) => [id, name]));
  const known = new Set(names.keys());
  const { resources, findings } = await listResources(host);
  const unread = [
    ...(await checked('journal', async () => {
      for (const { id, name } of await host.journal.unfinished()) names.set(id, name);
      return [];
    })),
    ...(await checked('records', async () => {
      for (const { state } of await host.records.all()) names.set(state.id, state.name);
      for (const { state } of await host.aside.all()) names.set(state.id, state.name);
      return [];
    })),
  ];
  const places = await checked('backups', () => inspectBackupPlaces(host, expected));
  const shared = await toDifferences(
    [...places, ...findings, ...unread, ...ownerless(resources)],
    isRepairing,
  );

  const ids = new Set([...names.keys(), ...resources.flatMap(({ installId }) => installId ?? [])]);
  const withProject = await findProjects(host, [...ids]);
  const ofInstalls = new Map<string, Difference[]>([...ids].map((id) => [id, []]));
  const unlisted = new Set(findings.map(({ thing }) => thing));
  await mapConcurrent([...ids], AT_ONCE, async (id) => {
    const name = names.get(id) ?? id;
    const inspect = () =>
      inspectOne(host, { id, name }, { isExpected: known.has(id), unlisted, withProject, isRepairing });
    const found = await tryWithin(LOCK_WITHIN_MS, (work) => host.serially(id, work), inspect).catch(
      (error: unknown) => toDifferences([checkFailed(`install ${name}`, error)], isRepairing),
    );
    ofInstalls.set(id, found ?? (host.isTrial(name) ? [] : [busy(name)]));
  });
  // Last, because the repairs above may have started them. A running attempt locks its install, which may thus be skipped.
  const lost = new Set([...ofInstalls].flatMap(([id, found]) => (found.some(isLoss) ? [id] : [])));
  const waiting = await toDifferences(notStarted(host.startRetries, lost), isRepairing);
  return [...services, ...shared, ...waiting, ...[...ofInstalls.values()].flat()];
}

/** No fault and no remedy: the install was skipped. */
function busy(name: string): Difference {
  const message = 'It is locked by other work, and was skipped.';
  return { thing: `install ${name}`, message, mended: null, remedy: null };
}

/** A website that lost data waits for it, and a retry cannot help. */
const isLoss = ({ backupOf }: Difference) => backupOf !== undefined;

/** `reported`: installs whose reason is among the findings already. */
function notStarted(startRetries: StartRetries, reported: ReadonlySet<string>): Finding[] {
  const waiting = [...startRetries.waiting()].filter(([key]) => !reported.has(key));
  return waiting.map(([key, { name, reason, since }]) => ({
    thing: name,
    message: `It has been down since ${since.toISOString()}, and the host keeps trying: ${reason}`,
    repair: () => startRetries.retry(key),
    remedy: READ_THE_LOG,
  }));
}

/** Resources of installs on the machine, and a finding for each kind that cannot be listed. */
async function listResources(
  host: InspectedHost,
): Promise<{ resources: InstallResource[]; findings: Finding[] }> {
  const resources: InstallResource[] = [];
  const findings: Finding[] = [];
  for (const { name, list } of resourceKinds(host)) {
    const failed = await checked(name, async () => {
      resources.push(...(await list()));
      return [];
    });
    findings.push(...failed);
  }
  return { resources, findings };
}

/** The installs whose files have a project quota, in one question for all. If it fails, each install asks again and reports that. */
async function findProjects({ quotas, layout }: InspectedHost, ids: string[]): Promise<Set<string>> {
  try {
    const usage = await quotas.usage(ids.map(layout.homeOf));
    return new Set(ids.filter((_id, index) => usage[index] !== null));
  } catch {
    return new Set();
  }
}

/** Resources whose name belongs to no install. */
function ownerless(resources: InstallResource[]): Finding[] {
  return resources
    .filter(({ installId }) => installId === null)
    .map((resource) => ({ thing: resource.label, ...unowned(resource) }));
}

/** Runs while the install is locked. `unlisted`: kinds that could not be listed, which is reported already. */
async function inspectOne(
  host: InspectedHost,
  { id, name }: InstallRef,
  {
    isExpected,
    unlisted,
    withProject,
    isRepairing,
  }: {
    isExpected: boolean;
    unlisted: ReadonlySet<string>;
    withProject: ReadonlySet<string>;
    isRepairing: boolean;
  },
): Promise<Difference[]> {
  const thing = `install ${name}`;
  let record: InstallRecord | null;
  try {
    record = await host.records.read(id);
  } catch (error) {
    return toDifferences([{ thing, ...unreadable(host.layout.recordOf(id), error) }], isRepairing);
  }
  if (record !== null) {
    if (host.isTrial(record.state.name)) return [];
    const found = isExpected ? [] : [{ thing, ...unknown(record) }];
    const options = {
      isRepairing,
      canAskDatabases: !unlisted.has('databases'),
      hasProject: withProject.has(id),
    };
    return [...(await toDifferences(found, isRepairing)), ...(await inspectInstall(host, record, options))];
  }
  if ((await host.aside.ids()).includes(id)) {
    return toDifferences(
      [{ thing, ...(isExpected ? setAsideButExpected(name) : setAside(id)) }],
      isRepairing,
    );
  }
  const { resources, findings } = await listResources(host);
  const left = resources.filter(({ installId }) => installId === id);
  const entry = (await host.journal.unfinished()).find((other) => other.id === id);
  // Failed provisioning is undone at once. Its journal entry can then remain without any resources.
  if (entry !== undefined && left.length > 0) {
    return toDifferences([{ thing, ...interrupted(host, entry) }], isRepairing);
  }
  // If the control plane expects the install, its remaining resources can still be used.
  if (isExpected) return toDifferences([{ thing, ...lost(name) }], isRepairing);
  const failed = findings.filter((finding) => !unlisted.has(finding.thing));
  const strays = left.map((resource) => ({ thing: resource.label, ...unowned(resource) }));
  return toDifferences([...failed, ...strays], isRepairing);
}

function unreadable(file: string, error: unknown): Fault {
  const reason = messageOf(error);
  const remedy = `Repair ${file}. Until then, the install's data stays as it is.`;
  return { message: `Its record cannot be read: ${reason}.`, repair: null, remedy };
}

/** The install is served here, but the control plane has no such install. */
function unknown({ state }: InstallRecord): Fault {
  return {
    message: 'This host serves it, but the control plane has no such install on this host.',
    repair: null,
    remedy: `If it is no longer needed, remove it: homeport host forget <this host> ${state.id}`,
  };
}

/** Its Unix user, database and folder stay, so that no other install gets its user id or its data. */
function setAside(id: string): Fault {
  return {
    message: 'The platform has no such install. It is not served, and its data is kept.',
    repair: null,
    remedy: `homeport install orphans lists it; homeport install discard ${id} deletes it permanently.`,
  };
}

function setAsideButExpected(name: string): Fault {
  return {
    message: 'The control plane expects it on this host, but it is set aside here.',
    repair: null,
    remedy: `homeport install apply ${name} serves it again.`,
  };
}

function lost(name: string): Fault {
  return {
    message: 'The control plane expects it on this host, but it is missing.',
    repair: null,
    remedy: `Bring its data back, or restore a backup ("homeport backup list --install ${name}"). Without any, make an empty one: homeport install apply ${name} --from-scratch.`,
  };
}

function interrupted(host: InspectedHost, entry: JournalEntry): Fault {
  return {
    message: 'Its creation or removal was interrupted, and its remains are still here.',
    repair: () => host.undo(entry),
    remedy: 'See the reason in the log of "homeport host", which tries again at each start.',
  };
}
