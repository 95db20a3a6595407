import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { RepositoryRoot } from './repository-place.ts';

const root = Type.Object({
  address: Type.String(),
  credentials: Type.Union([
    Type.Null(),
    Type.Object({ accessKeyId: Type.String(), secretAccessKey: Type.String() }),
  ]),
});

/** Backups by their install that were deleted during a move; null: the whole repository. */
const deletions = Type.Record(Type.String(), Type.Union([Type.Null(), Type.Array(Type.String())]));
export type Deletions = Static<typeof deletions>;

/** The record of the host about the places of its backups, in a file that only root can read. */
const recordSchema = Type.Object({
  /** The place in the settings that this record follows or, after a move, replaces. */
  setting: Type.String(),
  /** The place of all repositories, except the waiting ones. */
  current: root,
  /** When the host switched to it; null if it never did. */
  since: Type.Union([Type.String(), Type.Null()]),
  /** Installs whose repository is not moved yet, each with the address of its place. */
  waiting: Type.Record(Type.String(), Type.String()),
  /** Earlier places. Their repositories stay until the operator has them deleted. */
  former: Type.Array(root),
  /** Places that the host has marked, because they hold backups. Undefined if an earlier version wrote the record. */
  marked: Type.Optional(Type.Array(Type.String())),
  /** Targets of moves that have not finished. A deletion must reach the copies there, too. */
  unfinished: Type.Optional(Type.Record(Type.String(), deletions)),
});
export type PlacesRecord = Static<typeof recordSchema>;

/** Throws if the file is damaged. */
export function parsePlacesRecord(text: string, file: string): PlacesRecord {
  try {
    return Value.Parse(recordSchema, JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `The record of backup places is damaged. Restore ${file}, or delete it to use the place in the settings.`,
      { cause },
    );
  }
}

export function withRoot(roots: readonly RepositoryRoot[], added: RepositoryRoot | null): RepositoryRoot[] {
  if (added === null) return [...roots];
  return [...roots.filter(({ address }) => address !== added.address), added];
}

/** Adds a mark to the record. */
export function withMark(record: PlacesRecord, address: string): PlacesRecord {
  const { marked = [] } = record;
  return marked.includes(address) ? record : { ...record, marked: [...marked, address] };
}

/**
 * Notes a deletion for the targets of all unfinished moves. `backupId` null: the whole repository is deleted. Its deletion in the current
 * place needs no note.
 */
export function withDeletion(record: PlacesRecord, installId: string, backupId: string | null): PlacesRecord {
  const { unfinished = {} } = record;
  const noted = Object.entries(unfinished).map(([address, before]): [string, Deletions] => {
    const ids = before[installId];
    if (backupId === null && address === record.current.address) return [address, before];
    if (ids === null || backupId === null) return [address, { ...before, [installId]: null }];
    return [address, { ...before, [installId]: [...new Set([...(ids ?? []), backupId])] }];
  });
  return { ...record, unfinished: Object.fromEntries(noted) };
}
