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

/** A folder that an embedded host keeps its websites in: its own id, and where it is now. */
export type FolderHere = Pick<WebsitesFolder, 'id' | 'machine' | 'path'>;

interface ClaimParts {
  database: Database;
  clock: Clock;
  pause(ms: number): Promise<void>;
  /** Whether a process of this machine has this id; this one has, too. */
  runsHere(pid: number): boolean;
  /** The process that served from this very folder before, on this machine and since it started. */
  lastServer: { read(): Promise<string | null>; note(process: string): Promise<void> };
  /** This process, as its worker calls itself. */
  process: string;
}

/** How it is seen that this folder is the one that websites are served from. Throws OperatorError where it is not. */
export type WebsitesClaim = (parts: ClaimParts, here: FolderHere) => Promise<void>;

/** What is said to whoever is refused. */
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
    `Start the server on ${machine}, which goes on with what waits, or run this command there; ` +
    'or, if that folder is lost, let this one take its place: "homeport host take-over".',
  served: 'Run this command there (a server that was killed counts for 10 seconds more).',
};

/**
 * For a server. The first folder that websites are served from is written down, and no other is served from afterwards: it would answer for installs
 * whose files it does not have. One that was moved keeps its id; but not while it is served where it was, for then it was copied. The lock of
 * the folder is this process's by then.
 */
export const claimWebsites: WebsitesClaim = async (parts, here) => {
  const { database, clock } = parts;
  const claim = { ...here, claimed_at: timestamp(clock) };
  const served = await database.write(async ({ queries }) => {
    await insertWebsitesFolder(queries, claim);
    return findWebsitesFolder(queries);
  });
  if (served === undefined) throw new Error('the folder of the websites was not written down');
  // The folder's lock was that process's and is ours, so it has ended, however long its worker still counts as live.
  const ended = await parts.lastServer.read();
  await requireServedFrom(parts, served, here, FOR_SERVER, ended);
  if (!isSamePlace(served, here)) {
    await database.write(({ queries }) => updateWebsitesFolder(queries, claim));
  }
  await parts.lastServer.note(parts.process);
};

/** For a command that does a server's work while there is none: it writes nothing down, or the first to be refused could be the server. */
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
      `The websites of this database are served still, from ${path} on another machine that calls itself ${machine}: ` +
        `one is a copy of the other. ${advice.served}`,
    );
  }
  const workers = await workersOf(parts, machine);
  if (workers.length === 0) return;
  throw new OperatorError(
    `The websites of this database are served still, from ${path} on ${machine}. ${advice.served}`,
  );
}

const isSamePlace = (served: FolderHere, here: FolderHere): boolean =>
  served.machine === here.machine && served.path === here.path;

const workersOf = async ({ database, clock }: ClaimParts, machine: string): Promise<LiveWorker[]> =>
  (await liveWorkers(database, clock)).filter((worker) => worker.process.startsWith(`${machine}:`));

const LOOK_EVERY_MS = 500;

/**
 * Whether a worker that calls itself by this machine's name lives on another. None of this machine serves the folder, whose lock is here, so it is
 * there, or was killed here: then it shows itself no more, and has lapsed after a few seconds. After an orderly stop there is nothing to wait for,
 * nor for `ended`, which is known to have ended.
 */
async function isCopied(parts: ClaimParts, machine: string, ended: string | null): Promise<boolean> {
  const { clock, pause } = parts;
  // A command that works beside this process is no server.
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

/** From now on this folder is the one. Gives the one that was, if that is another. */
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
