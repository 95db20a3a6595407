import type { InstallRef } from '../../contract/install-ref.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import type { ContentsWriter } from '../../websites/backup-contents/contents-file.ts';
import type { ArchiveReader } from './archive-read.ts';
import { type DumpReader, readDumpTables } from './dump-tables.ts';
import type { Restic } from './restic.ts';
import { readSnapshot } from './snapshot-read.ts';
import { readTarEntries, type TarEntryReader } from './tar-entries.ts';

/** Reads and verifies a snapshot, and lists it in an index unless `writer` is null. Rejects as {@link readSnapshot}. */
export async function readIndexed(
  { restic, id, from, base }: { restic: Restic; id: string; from: InstallRef; base?: string | undefined },
  writer: ContentsWriter | null,
  signal?: AbortSignal,
): Promise<Snapshot> {
  const seen = await readSnapshot(restic, id, from, { signal, base, reader: listContents(writer) });
  if (writer === null) return seen;
  for (const chunk of await restic.chunks(id, signal)) writer.addChunk(chunk);
  return seen;
}

/** Lists the tables and the files of a backup in its index while {@link readArchive} reads it. */
function listContents(writer: ContentsWriter | null): ArchiveReader {
  if (writer === null) return {};
  let dump: DumpReader | null = null;
  let dumpPlace = 0;
  let files: TarEntryReader | null = null;
  return {
    dumpBegins(at) {
      dumpPlace = at;
      dump = readDumpTables(at, (table) => writer.addTable(table));
    },
    async dump(bytes) {
      dump?.push(bytes);
    },
    dumpEnded() {
      if (dump !== null) writer.noteDump({ place: dumpPlace, length: dump.end() });
    },
    filesBegin(at) {
      files = readTarEntries(at, { entry: (found) => writer.add(found) });
    },
    async files(bytes) {
      await files?.push(bytes);
    },
  };
}
