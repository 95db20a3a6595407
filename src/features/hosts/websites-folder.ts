import type { Database } from '../../database/database.ts';
import { LIVE_WITHIN_MS, type LiveWorker, liveWorkers } from '../../jobs/live-workers.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import {
  findWebsitesFolder,
  insertWebsitesFolder,
  updateWebsitesFolder,
  type WebsitesFolder,
} from './websites-folder-store.ts';

/** A data folder of an embedded host: its stored id and its present path. */
export type FolderHere = Pick<WebsitesFolder, 'id' | 'machine' | 'path'>;

interface ClaimParts {
  database: Database;
  clock: Clock;
  pause(ms: number): Promise<void>;
  /** Whether a process with this id runs on this machine; true for this process. */
  runsHere(pid: number): boolean;
  /** The process that served from this folder before, on this machine since its boot. */
  lastServer: { read(): Promise<string | null>; note(process: string): Promise<void> };
  /** This process, by the name of its worker. */
  process: string;
}

/** Checks that this folder is the one the websites are served from. Throws OperatorError if not. */
export type WebsitesClaim = (parts: ClaimParts, here: FolderHere) => Promise<void>;

/** The advice in a refusal. */
interface Advice {
  otherFolder(machine: string): string;
  served: string;
}

const FOR_SERVER: Advice = {
  otherFolder: (machine) =>
    `Start this one with "--only api"; or bring that folder here, if ${machine} is to host no more; ` +
    'or, if it is lost, let this one take its place: "homeport host take-over".',
  served:
    'End the server there first (one that was killed counts for 10 seconds more), or start this one with "--only api".',
};

const FOR_COMMAND: Advice = {
  otherFolder: (machine) =>
    `Start the server on ${machine}, which continues the waiting jobs, or run this command there; ` +
    'or, if that folder is lost, let this one take its place: "homeport host take-over".',
  served: 'Run this command there (a server that was killed counts for 10 seconds more).',
};

/**
 * Claims the websites folder for a server. The first folder to serve websites is recorded; any other is refused, because
 * it lacks the installs' files. A moved folder keeps its id. If its old path is still served, it is a copy and refused.
 * The caller holds the folder's lock.
 */
export const claimWebsites: WebsitesClaim = async (parts, here) => {
  const { database, clock } = parts;
  const claim = { ...here, claimed_at: timestamp(clock) };
  const served = await database.write(async ({ queries }) => {
    await insertWebsitesFolder(queries, claim);
    return findWebsitesFolder(queries);
  });
  if (served === undefined) throw new Error('the folder of the websites was not written down');
  // That process held the folder's lock, which is ours now. It has ended even if its worker still counts as live.
  const ended = await parts.lastServer.read();
  await requireServedFrom(parts, served, here, FOR_SERVER, ended);
  if (!isSamePlace(served, here)) {
    await database.write(({ queries }) => updateWebsitesFolder(queries, claim));
  }
  await parts.lastServer.note(parts.process);
};

/**
 * Compares the folder for a command that does a server's work while none runs. It records nothing, or a later server
 * could be refused.
 */
export const compareWebsites: WebsitesClaim = async (parts, here) => {
  const served = await findWebsitesFolder(parts.database.reader);
  if (served !== undefined) await requireServedFrom(parts, served, here, FOR_COMMAND);
};

async function requireServedFrom(
  parts: ClaimParts,
  served: WebsitesFolder,
  here: FolderHere,
  advice: Advice,
  ended: string | null = null,
): Promise<void> {
  const { id, machine, path } = served;
  if (id !== here.id) {
    throw new OperatorError(
      `The websites of this database are in another data folder: ${path} on ${machine}. ${advice.otherFolder(machine)}`,
    );
  }
  if (isSamePlace(served, here)) {
    if (!(await isCopied(parts, machine, ended))) return;
    throw new OperatorError(
      `The websites of this database are still served, from ${path} on another machine that calls itself ${machine}: ` +
        `one is a copy of the other. ${advice.served}`,
    );
  }
  const workers = await workersOf(parts, machine);
  if (workers.length === 0) return;
  throw new OperatorError(
    `The websites of this database are still served, from ${path} on ${machine}. ${advice.served}`,
  );
}

const isSamePlace = (served: FolderHere, here: FolderHere): boolean =>
  served.machine === here.machine && served.path === here.path;

const workersOf = async ({ database, clock }: ClaimParts, machine: string): Promise<LiveWorker[]> =>
  (await liveWorkers(database, clock)).filter((worker) => worker.process.startsWith(`${machine}:`));

const LOOK_EVERY_MS = 500;

/**
 * Whether a worker under this machine's name runs on another machine. The folder's lock is here, so no process of this
 * machine serves it. A killed worker counts as live until its heartbeat lapses a few seconds later. After an orderly
 * stop there is nothing to wait for, nor for `ended`, which is known to have ended.
 */
async function isCopied(parts: ClaimParts, machine: string, ended: string | null): Promise<boolean> {
  const { clock, pause } = parts;
  // A command's worker is no server.
  const isHere = ({ process }: LiveWorker) =>
    process === ended || parts.runsHere(Number(process.slice(machine.length + 1)));
  const doubtful = async () => (await workersOf(parts, machine)).filter((worker) => !isHere(worker));
  const seenAt = new Map((await doubtful()).map((worker) => [worker.id, worker.seenAt]));
  const patience = clock.now().getTime() + LIVE_WITHIN_MS;
  for (let left = seenAt.size; left > 0; ) {
    if (clock.now().getTime() > patience) return true;
    await pause(LOOK_EVERY_MS);
    const workers = await doubtful();
    if (workers.some((worker) => seenAt.get(worker.id) !== worker.seenAt)) return true;
    left = workers.length;
  }
  return false;
}

/** Makes this folder the one that serves websites. Returns the former one, if that is another. */
export async function takeOverWebsites(
  { database, clock }: { database: Database; clock: Clock },
  here: FolderHere,
): Promise<WebsitesFolder | null> {
  const claim = { ...here, claimed_at: timestamp(clock) };
  return database.write(async ({ queries }) => {
    const before = await findWebsitesFolder(queries);
    if (before?.id === here.id) return null;
    await insertWebsitesFolder(queries, claim);
    await updateWebsitesFolder(queries, claim);
    return before ?? null;
  });
}
