import type { FileHandle } from 'node:fs/promises';
import type { Listing } from './sftp-files.ts';
import { refusal } from './sftp-status.ts';

type Opened = { file: FileHandle } | { listing: Listing };

/** The open files and folders of one session, by client handle. */
export interface Handles {
  /** Rejects if the limit is reached, before anything is opened. */
  requireRoom(): void;
  addFile(file: FileHandle): Buffer;
  addListing(listing: Listing): Buffer;
  file(handle: Buffer): FileHandle;
  listing(handle: Buffer): Listing;
  close(handle: Buffer): Promise<void>;
  closeAll(): Promise<void>;
}

/** `closeFile` closes an opened file. */
export function createHandles(limit: number, closeFile: (file: FileHandle) => Promise<void>): Handles {
  const opened = new Map<string, Opened>();
  let last = 0;

  function add(what: Opened): Buffer {
    last += 1;
    const handle = Buffer.from(String(last));
    opened.set(String(last), what);
    return handle;
  }

  function get(handle: Buffer): Opened {
    const found = opened.get(handle.toString('latin1'));
    if (found === undefined) throw refusal.failed('There is no such handle');
    return found;
  }

  async function closeOne(opened: Opened): Promise<void> {
    if ('file' in opened) {
      await closeFile(opened.file);
    } else {
      await opened.listing.entries.close();
      await opened.listing.folder.handle.close();
    }
  }

  return {
    requireRoom() {
      if (opened.size >= limit) throw refusal.failed('Too many files are open; close some first');
    },
    addFile: (file) => add({ file }),
    addListing: (listing) => add({ listing }),
    file(handle) {
      const found = get(handle);
      if ('file' in found) return found.file;
      throw refusal.failed('The handle is that of a folder');
    },
    listing(handle) {
      const found = get(handle);
      if ('listing' in found) return found.listing;
      throw refusal.failed('The handle is that of a file');
    },
    async close(handle) {
      const found = get(handle);
      opened.delete(handle.toString('latin1'));
      await closeOne(found);
    },
    async closeAll() {
      const all = [...opened.values()];
      opened.clear();
      await Promise.allSettled(all.map(closeOne));
    },
  };
}
