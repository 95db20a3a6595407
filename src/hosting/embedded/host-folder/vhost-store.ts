import { closeSync, type FSWatcher, openSync, readFileSync, readSync, statSync, watch } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { removeAbandoned, removeDurably, writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { installOfVhostFile, type Layout } from './layout.ts';
import { type FileSpan, parseVhostFile, revisionOf, type VhostFile } from './vhost.ts';

/** The vhost files in their folder. */
export interface VhostStore {
  /** Creates the folder and removes leftovers of interrupted writes. */
  prepare(now: Date): Promise<void>;
  /** The content of an install's file, or null. Synchronous, as `stamp`. */
  readText(installId: string): string | null;
  /** A part of an install's file, as `readText`. Shorter if the file is. */
  readPart(installId: string, span: FileSpan): string | null;
  /** As `readText`, also of an install that is set aside. */
  readHeldText(installId: string): string | null;
  /** Parsed. Throws an Error that names the file if it does not fit the schema. */
  read(installId: string): Promise<{ file: VhostFile; revision: string } | null>;
  /** Returns the revision written. */
  write(file: VhostFile): Promise<string>;
  delete(installId: string): Promise<void>;
  /** The ids of all installs that have a file. */
  list(): Promise<string[]>;
  /**
   * Changes with each write of the install's file; null if the file is missing. Synchronous: for files this small, handing the call to
   * another thread takes more time than making it.
   */
  stamp(installId: string): string | null;
  /** Changes with each write or deletion in the folder. */
  folderStamp(): Promise<string>;
  /** Calls back with the id of each install whose file any process wrote or deleted. */
  watch(onChange: (installId: string) => void, onError: (error: unknown) => void): FSWatcher;
}

export function createVhostStore(layout: Layout): VhostStore {
  function textOf(path: string): string | null {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  function partOf(path: string, { start, end }: FileSpan): string | null {
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
    try {
      const bytes = Buffer.alloc(end - start);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start));
    } finally {
      closeSync(file);
    }
  }

  const readText = (installId: string) => textOf(layout.vhostOf(installId));

  return {
    async prepare(now) {
      await mkdir(layout.vhosts, { recursive: true, mode: 0o700 });
      await removeAbandoned(layout.vhosts, now);
    },
    readText,
    readPart: (installId, span) => partOf(layout.vhostOf(installId), span),
    readHeldText: (installId) => readText(installId) ?? textOf(layout.asideOf(installId)),
    async read(installId) {
      const text = readText(installId);
      if (text === null) return null;
      try {
        return { file: parseVhostFile(text), revision: revisionOf(text) };
      } catch (cause) {
        throw new Error(`the vhost file ${layout.vhostOf(installId)} cannot be used`, { cause });
      }
    },
    async write(file) {
      const text = `${JSON.stringify(file, null, 1)}\n`;
      await writeDurably(layout.vhostOf(file.id), text);
      return revisionOf(text);
    },
    async delete(installId) {
      await removeDurably(layout.vhostOf(installId));
    },
    async list() {
      const names = await readdir(layout.vhosts);
      return names.flatMap((name) => installOfVhostFile(name) ?? []);
    },
    stamp(installId) {
      const stats = statSync(layout.vhostOf(installId), { bigint: true, throwIfNoEntry: false });
      return stats === undefined ? null : `${stats.ino}-${stats.size}-${stats.mtimeNs}`;
    },
    async folderStamp() {
      return String((await stat(layout.vhosts, { bigint: true })).mtimeNs);
    },
    watch(onChange, onError) {
      const watcher = watch(layout.vhosts, (_event, fileName) => {
        const id = fileName === null ? undefined : installOfVhostFile(fileName);
        if (id !== undefined) onChange(id);
      });
      return watcher.on('error', onError);
    },
  };
}
