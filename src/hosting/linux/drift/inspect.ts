import { mapConcurrent, tryWithin } from '../../../lib/concurrency.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { Difference, InstallRef } from '../../contract/host.ts';
import type { JournalEntry } from '../machine/journal.ts';
import type { InstallRecord } from '../machine/record.ts';
import type { LinuxHostParts } from '../websites/linux-host-parts.ts';
import type { WebsiteSteps } from '../websites/provisioning.ts';
import type { StartRetries } from '../websites/start-retries.ts';
import type { WebsiteLifecycle } from '../websites/website-lifecycle.ts';
import { checked, type Fault, type Finding, LOOK_AT_THE_LOG, mended, notLookedAt } from './finding.ts';
import { inspectInstall } from './install.ts';
import { inspectServices } from './services.ts';
import { kindsOfThings, straying, type Thing } from './things.ts';

export interface InspectedHost
  extends LinuxHostParts,
    Pick<WebsiteLifecycle, 'websiteOf' | 'bringUp' | 'undo'> {
  steps: WebsiteSteps;
  startRetries: StartRetries;
  /** Work on one install at a time. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
}

/** Installs that are looked at side by side. */
const SIDE_BY_SIDE = 8;
/** An install that is worked on for longer is left to whoever does. */
const TURN_WITHIN_MS = 5_000;

/**
 * Compares the machine with the records, and those with `expected`, what the control plane has placed here. Everything of an
 * install is looked at, and mended, in the install's own turn and by its record as it is then, so that what is just being made,
 * changed or removed is not taken for wrong. Data of which nobody knows whose it is are named and left alone: to delete them is for a
 * person.
 */
export async function inspectMachine(
  host: InspectedHost,
  expected: InstallRef[],
  repair: boolean,
): Promise<Difference[]> {
  // First, for without them hardly anything else can be looked at.
  const services = await mended(await inspectServices(host), repair);
  const names = new Map(expected.map(({ id, name }) => [id, name]));
  const known = new Set(names.keys());
  const { things, findings } = await listThings(host);
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
  const shared = await mended([...findings, ...unread, ...ownerless(things)], repair);

  const ids = new Set([...names.keys(), ...things.flatMap(({ installId }) => installId ?? [])]);
  const ofInstalls = new Map<string, Difference[]>([...ids].map((id) => [id, []]));
  const unlisted = new Set(findings.map(({ thing }) => thing));
  await mapConcurrent([...ids], SIDE_BY_SIDE, async (id) => {
    const name = names.get(id) ?? id;
    const look = () => inspectOne(host, { id, name }, { isExpected: known.has(id), unlisted, repair });
    const found = await tryWithin(TURN_WITHIN_MS, (work) => host.serially(id, work), look).catch(
      (error: unknown) => mended([notLookedAt(`install ${name}`, error)], repair),
    );
    ofInstalls.set(id, found ?? (host.isTrial(name) ? [] : [busy(name)]));
  });
  // After all that may have brought them up. An attempt holds the install's turn, so it may not have been looked at.
  const waiting = await mended(notUpYet(host.startRetries), repair);
  return [...services, ...shared, ...waiting, ...[...ofInstalls.values()].flat()];
}

/** Nothing is wrong, so nothing is to be done. */
function busy(name: string): Difference {
  const message = 'It is being worked on just now, and was not looked at.';
  return { thing: `install ${name}`, message, mended: null, remedy: null };
}

function notUpYet(startRetries: StartRetries): Finding[] {
  return [...startRetries.waiting()].map(([key, { name, reason, since }]) => ({
    thing: name,
    message: `It has not been up since ${since.toISOString()}, and the host keeps trying: ${reason}`,
    mend: () => startRetries.retry(key),
    remedy: LOOK_AT_THE_LOG,
  }));
}

/** What there is of installs on the machine, and of which kinds that cannot be told. */
async function listThings(host: InspectedHost): Promise<{ things: Thing[]; findings: Finding[] }> {
  const things: Thing[] = [];
  const findings: Finding[] = [];
  for (const { name, list } of kindsOfThings(host)) {
    const failed = await checked(name, async () => {
      things.push(...(await list()));
      return [];
    });
    findings.push(...failed);
  }
  return { things, findings };
}

/** What by its name belongs to no install. */
function ownerless(things: Thing[]): Finding[] {
  return things
    .filter(({ installId }) => installId === null)
    .map((thing) => ({ thing: thing.what, ...straying(thing) }));
}

/** In the install's turn. `unlisted`: kinds of things that cannot be listed, which was told. */
async function inspectOne(
  host: InspectedHost,
  { id, name }: InstallRef,
  { isExpected, unlisted, repair }: { isExpected: boolean; unlisted: ReadonlySet<string>; repair: boolean },
): Promise<Difference[]> {
  const thing = `install ${name}`;
  let record: InstallRecord | null;
  try {
    record = await host.records.read(id);
  } catch (error) {
    return mended([{ thing, ...unreadable(host.layout.recordOf(id), error) }], repair);
  }
  if (record !== null) {
    if (host.isTrial(record.state.name)) return [];
    const found = isExpected ? [] : [{ thing, ...unknown(record) }];
    const options = { repair, canAskDatabases: !unlisted.has('databases') };
    return [...(await mended(found, repair)), ...(await inspectInstall(host, record, options))];
  }
  if ((await host.aside.ids()).includes(id)) {
    return mended([{ thing, ...(isExpected ? knownAgain(name) : putAside(id)) }], repair);
  }
  const { things, findings } = await listThings(host);
  const left = things.filter(({ installId }) => installId === id);
  const entry = (await host.journal.unfinished()).find((other) => other.id === id);
  // A making that failed was undone at once, and its entry says no more than that nothing can be left.
  if (entry !== undefined && left.length > 0) return mended([{ thing, ...brokenOff(host, entry) }], repair);
  // What is left of one that the control plane wants here is of use when it is made anew.
  if (isExpected) return mended([{ thing, ...lost(name) }], repair);
  const failed = findings.filter((finding) => !unlisted.has(finding.thing));
  return mended([...failed, ...left.map((one) => ({ thing: one.what, ...straying(one) }))], repair);
}

function unreadable(file: string, error: unknown): Fault {
  const reason = messageOf(error);
  const remedy = `Put ${file} right: what there is of the install stays as it is until then.`;
  return { message: `Its record cannot be read: ${reason}.`, mend: null, remedy };
}

/** The control plane knows nothing of it. */
function unknown({ state }: InstallRecord): Fault {
  return {
    message: 'It is served here, and the control plane has no such install on this host.',
    mend: null,
    remedy: `If nobody needs it any more, take it away: homeport host forget <this host> ${state.id}`,
  };
}

/** Its Unix user, database and folder are left alone, so that no other install gets its ids or its data. */
function putAside(id: string): Fault {
  return {
    message: 'The platform does not know it. It is not served, and its data are kept.',
    mend: null,
    remedy: `homeport install orphans lists it; homeport install discard ${id} deletes it for good.`,
  };
}

function knownAgain(name: string): Fault {
  return {
    message: 'The control plane has it on this host, and it is put aside here.',
    mend: null,
    remedy: `homeport installs apply ${name} serves it again.`,
  };
}

function lost(name: string): Fault {
  return {
    message: 'The control plane has it on this host, and it is not here.',
    mend: null,
    remedy: `homeport installs apply ${name} makes it anew; homeport backup restore brings its content back.`,
  };
}

function brokenOff(host: InspectedHost, entry: JournalEntry): Fault {
  return {
    message: 'Its making or its removal was broken off, and nobody goes on with it.',
    mend: () => host.undo(entry),
    remedy: 'What is in the way stands in the log of "homeport host", which tries again whenever it starts.',
  };
}
