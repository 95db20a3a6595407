import { takesLabels } from './labels.ts';
import type { AccountOnHost, MovableInstall, MovableSelection } from './placement-store.ts';
import { chooseHost, freePart, isShort } from './room.ts';
import type { KnownHost } from './store.ts';

/** Why an install should move: its host does not fit its account, has other production installs of it, or is fuller than others. */
export type MoveReason = 'labels' | 'spread' | 'room';

export interface ProposedMove {
  install: MovableInstall;
  from: string;
  to: string;
  reason: MoveReason;
}

/** An install that should move and cannot. */
export interface StuckInstall {
  install: MovableInstall;
  from: string;
  /** Why no host takes it. */
  refusal: string;
}

export interface Proposal {
  moves: ProposedMove[];
  stuck: StuckInstall[];
}

/** The fleet at one moment. `counts`: installs per host. */
export interface Fleet {
  hosts: readonly KnownHost[];
  counts: ReadonlyMap<string, number>;
  accounts: readonly AccountOnHost[];
}

/** Hosts whose free parts differ by less are even enough: each move has its price. */
const UNEVEN = 0.2;

/**
 * Proposes at most `limit` moves, by the rules of placement: first installs on hosts that their accounts do not want, then production installs
 * of one account that share a host, then installs of the fullest hosts. Each move is added up before the next is looked for: an install
 * takes its measured storage with it, and the average of its host in memory and load.
 */
export async function proposeMoves(
  fleet: Fleet,
  candidates: (selection: MovableSelection) => Promise<MovableInstall[]>,
  limit: number,
): Promise<Proposal> {
  const hosts = fleet.hosts.map((host) => structuredClone(host));
  const counts = new Map(fleet.counts);
  const production = new Map<string, Map<string, number>>();
  for (const { accountId, hostId, production: count } of fleet.accounts) {
    const byHost = production.get(accountId) ?? new Map<string, number>();
    production.set(accountId, byHost.set(hostId, count));
  }
  const proposal: Proposal = { moves: [], stuck: [] };
  const moved = new Set<string>();
  const isDone = () => proposal.moves.length >= limit;
  const neighboursOf = ({ accountId }: Pick<MovableInstall, 'accountId'>) =>
    production.get(accountId) ?? new Map();

  function targetOf(install: MovableInstall, from: KnownHost): ReturnType<typeof chooseHost> {
    const others = hosts.filter(({ id }) => id !== from.id);
    const neighbours = install.isProduction ? neighboursOf(install) : new Map();
    return chooseHost(others, counts, { ...install, neighbours });
  }

  function move(install: MovableInstall, from: KnownHost, to: KnownHost, reason: MoveReason): void {
    proposal.moves.push({ install, from: from.name, to: to.name, reason });
    moved.add(install.id);
    shiftLoad(install, from, to, counts.get(from.id) ?? 1);
    add(counts, from.id, -1);
    add(counts, to.id, 1);
    if (!install.isProduction) return;
    add(neighboursOf(install), from.id, -1);
    add(neighboursOf(install), to.id, 1);
  }

  /** The free part of a host with one more install. */
  function freeAfter(install: MovableInstall, from: KnownHost, to: KnownHost): number {
    const target = structuredClone(to);
    shiftLoad(install, structuredClone(from), target, counts.get(from.id) ?? 1);
    return freePart(target, new Map(counts).set(to.id, (counts.get(to.id) ?? 0) + 1));
  }

  async function byLabels(): Promise<void> {
    for (const { hostId, accountId, labels, installs } of fleet.accounts) {
      const from = hosts.find(({ id }) => id === hostId);
      if (from === undefined || takesLabels(from, labels) || isDone()) continue;
      const most = Math.min(installs, limit - proposal.moves.length);
      for (const install of await candidates({ hostId, accountId, limit: most })) {
        const choice = targetOf(install, from);
        if ('host' in choice) move(install, from, choice.host, 'labels');
        else proposal.stuck.push({ install, from: from.name, refusal: choice.refusal });
      }
    }
  }

  async function bySpread(): Promise<void> {
    for (const { hostId, accountId, production: count } of fleet.accounts) {
      const from = hosts.find(({ id }) => id === hostId);
      if (from === undefined || count < 2 || isDone()) continue;
      const most = Math.min(count - 1, limit - proposal.moves.length);
      for (const install of await candidates({ hostId, accountId, onlyProduction: true, limit: most })) {
        const choice = moved.has(install.id) ? null : targetOf(install, from);
        if (choice === null || !('host' in choice) || isShort(choice.host)) continue;
        const near = (host: KnownHost) => neighboursOf(install).get(host.id) ?? 0;
        if (near(choice.host) + 1 < near(from)) move(install, from, choice.host, 'spread');
      }
    }
  }

  /** From the fullest host that can give something away, until all are even. */
  async function byRoom(): Promise<void> {
    const left = new Map<string, MovableInstall[]>();
    const answering = hosts.filter(({ description, reason }) => description !== null && reason === null);
    while (!isDone()) {
      const ranked = answering.toSorted((one, other) => freePart(one, counts) - freePart(other, counts));
      const most = ranked.at(-1);
      const from = ranked.find(({ id }) => left.get(id)?.length !== 0);
      if (from === undefined || most === undefined) return;
      const free = freePart(from, counts);
      if (freePart(most, counts) - free < UNEVEN) return;
      const own =
        left.get(from.id) ?? (await candidates({ hostId: from.id, limit, largestFirst: isFullByDisk(from) }));
      const install = own.find(({ id }) => !moved.has(id));
      left.set(from.id, install === undefined ? [] : own.slice(own.indexOf(install) + 1));
      const choice = install === undefined ? null : targetOf(install, from);
      if (install === undefined || choice === null || !('host' in choice)) continue;
      if (freeAfter(install, from, choice.host) >= free) move(install, from, choice.host, 'room');
    }
  }

  await byLabels();
  await bySpread();
  await byRoom();
  return proposal;
}

const add = (numbers: Map<string, number>, key: string, by: number) =>
  void numbers.set(key, (numbers.get(key) ?? 0) + by);

function isFullByDisk({ description }: KnownHost): boolean {
  const machine = description?.machine;
  return (
    machine !== undefined &&
    machine.disk.free / machine.disk.total < machine.memory.free / machine.memory.total
  );
}

/** Takes what an install needs from one host and adds it to another. `count`: the installs of the first one. */
function shiftLoad({ bytes }: MovableInstall, from: KnownHost, to: KnownHost, count: number): void {
  const [source, target] = [from.description?.machine, to.description?.machine];
  if (source === undefined) return;
  const memory = (source.memory.total - source.memory.free) / count;
  const disk = bytes ?? (source.disk.total - source.disk.free) / count;
  const load = source.load / count;
  source.memory.free += memory;
  source.disk.free += disk;
  source.load -= load;
  if (target === undefined) return;
  target.memory.free -= memory;
  target.disk.free -= disk;
  target.load += load;
}
