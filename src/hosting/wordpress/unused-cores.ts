import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../lib/clock.ts';
import { writeDurably } from '../../lib/durable-file.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { ifThere } from '../../lib/if-there.ts';
import { branchOf, compareVersions } from '../policy/wordpress-version.ts';
import type { CoreFolders, WordPressCores } from './cores.ts';

/** Longer than most backups of websites on that version are kept. */
const GRACE_MS = 30 * DAY_MS;

/** Since when each version is unused, by version. */
const Unused = Type.Record(Type.String(), Type.String());
type Unused = Static<typeof Unused>;

/**
 * The versions that no website uses and that none would be updated to: neither the newest of its major number nor of a branch in use.
 */
export function unneededCores(held: readonly string[], used: readonly string[]): string[] {
  const branches = new Set(used.map(branchOf));
  const isNewest = (version: string, rivals: readonly string[]) =>
    rivals.every((rival) => compareVersions(rival, version) <= 0);
  const major = (version: string) => version.split('.')[0];
  return held.filter((version) => {
    if (used.includes(version)) return false;
    const inBranch = held.filter((other) => branchOf(other) === branchOf(version));
    const inMajor = held.filter((other) => major(other) === major(version));
    const isWanted = branches.has(branchOf(version)) && isNewest(version, inBranch);
    return !isWanted && !isNewest(version, inMajor);
  });
}

/** Since when versions are unneeded now, and those whose grace time is over. */
export function ageCores(
  before: Unused,
  unneeded: readonly string[],
  now: Date,
): { unused: Unused; due: string[] } {
  const unused = Object.fromEntries(
    unneeded.map((version) => [version, before[version] ?? now.toISOString()]),
  );
  const due = unneeded.filter((version) => {
    const since = Date.parse(unused[version] ?? '');
    return now.getTime() - since >= GRACE_MS;
  });
  return { unused, due };
}

/** Removes versions that were not needed for 30 days. Call it once a day. */
export async function removeUnusedCores(
  { layout, cores, clock }: { layout: Pick<CoreFolders, 'cores'>; cores: WordPressCores; clock: Clock },
  used: readonly string[],
): Promise<void> {
  // Not the name of a version, so it is no core.
  const file = join(layout.cores, 'unused.json');
  const { unused, due } = ageCores(
    await readUnused(file),
    unneededCores(await cores.list(), used),
    clock.now(),
  );
  for (const version of due) await cores.remove(version);
  const rest = Object.entries(unused).filter(([version]) => !due.includes(version));
  await writeDurably(file, JSON.stringify(Object.fromEntries(rest)));
}

/** An unreadable file only begins the grace time again. */
async function readUnused(file: string): Promise<Unused> {
  try {
    const value: unknown = JSON.parse((await ifThere(readFile(file, 'utf8'))) ?? '{}');
    return Value.Check(Unused, value) ? value : {};
  } catch {
    return {};
  }
}
