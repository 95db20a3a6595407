import type { InstallRef } from '../../contract/install-ref.ts';
import type { RestoredParts } from '../../contract/snapshots.ts';
import type { Contents, Span } from '../../websites/backup-contents/contents-file.ts';
import { chosenEntries } from '../../websites/backup-contents/place-chosen.ts';
import { DamagedBackupError, type Description, parseDescription } from './archive-manifest.ts';
import { type IndexedBackup, joined, readSpans } from './archive-parts.ts';
import { BLOCK_BYTES, END_OF_ARCHIVE, parseHeader } from './tar-blocks.ts';

/** Whether a restore reads only parts of a backup. A copy of tables needs the whole dump, in which its addresses are. */
export function isChosen({ files, paths, database }: RestoredParts, isCopy: boolean): boolean {
  return paths !== undefined || (!files && typeof database !== 'string' && !isCopy);
}

/** The description of an indexed backup. Rejects with a {@link DamagedBackupError} if it is of another website than `from`. */
export async function describedBackup(
  backup: IndexedBackup,
  from: InstallRef,
  signal: AbortSignal | undefined,
): Promise<Description> {
  const dump = backup.contents.dump();
  if (dump === null) throw new DamagedBackupError('it has no dump');
  const bytes: Buffer[] = [];
  const span = { place: 0, length: dump.whole.place };
  for await (const piece of readSpans(backup, [span], signal)) bytes.push(piece);
  const whole = Buffer.concat(bytes);
  const size = parseHeader(whole.subarray(0, BLOCK_BYTES))?.size ?? 0;
  const description = parseDescription(whole.toString('utf8', BLOCK_BYTES, BLOCK_BYTES + size));
  if (description.install_id !== from.id) throw new DamagedBackupError('it belongs to another website');
  return description;
}

/** The parts of the dump that chosen tables need; null if no table of the database is restored. */
export function dumpSpans(
  contents: Contents,
  { database }: RestoredParts,
  isCopy: boolean,
): readonly Span[] | null {
  if (database === 'none') return null;
  const dump = contents.dump();
  if (dump === null) throw new DamagedBackupError('it has no dump');
  if (database === 'all' || isCopy) return [dump.whole];
  // A table that the backup lacks is refused when the others are loaded, or dropped.
  const spans = database.flatMap((name) => contents.findTable(name)?.span ?? []);
  return joined([dump.preamble, ...spans]);
}

/** The parts of the archive that hold chosen paths, with the folders above them. Throws a {@link RefusedRestoreError} for a path that it lacks. */
export function fileSpans(contents: Contents, paths: readonly string[]): readonly Span[] {
  // A large folder takes a while to look through, so nothing is asked twice.
  const above = new Set<string>();
  const chosen = chosenEntries(contents, paths).map((entry) => {
    for (const folder of foldersAbove(entry.path)) above.add(folder);
    return contents.spanOf(entry);
  });
  const spans = joined([...chosen, ...[...above].flatMap((path) => contents.find(path) ?? [])]);
  const sources = new Set(spans.flatMap((span) => contents.sourcesIn(span)));
  return joined([...spans, ...[...sources].flatMap((path) => contents.find(path) ?? [])]);
}

function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_name, index) => names.slice(0, index + 1).join('/'));
}

/** The members of these spans as an archive. */
export async function* readMembers(
  backup: IndexedBackup,
  spans: readonly Span[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  yield* readSpans(backup, spans, signal);
  yield END_OF_ARCHIVE;
}
