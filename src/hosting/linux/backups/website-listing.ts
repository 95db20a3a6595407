import { basename } from 'node:path';
import { startProgram } from '../../../lib/started-program.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { hostLinks } from './host-links.ts';
import { explainPacking, requireOnlyVanished } from './website-tar.ts';

const FIND = '/usr/bin/find';
/** `find` also exits with this if a file vanished while it looked. */
const INCOMPLETE = 1;
/** Fields of an entry, each ended by a zero byte, which no name contains. */
const FIELDS = '%y\\0%p\\0%m %s %Ts %l\\0%T@ %C@ %D:%i\\0';

/** A file, link or folder of a website. Names are bytes, and kept as latin1. */
export interface ListedEntry {
  /** As in `find -printf %y`: `f`, `l`, `d` and rarer ones. */
  type: string;
  /** Attributes that an archive of tar keeps: mode, size, second of its last change, and target of a link. */
  kept: string;
  /** Differs after each change of the file or its attributes: the kernel sets ctime, and no owner can. */
  stamp: string;
}

/** Entries by their paths, such as `htdocs/index.php`. */
export type WebsiteListing = ReadonlyMap<string, ListedEntry>;

/**
 * Lists the folders of a website, without the links that belong to the host. Like tar, `find` runs as the install in its sandbox. `home`: another
 * folder with `htdocs` and `private`.
 */
export async function listWebsite(
  layout: LinuxLayout,
  install: SandboxedInstall,
  {
    home = foldersOf(layout, install).home,
    signal,
  }: { home?: string; signal?: AbortSignal | undefined } = {},
): Promise<WebsiteListing> {
  const folders = foldersOf(layout, install);
  const find = startProgram(
    sandboxCommand(
      layout,
      install,
      [FIND, basename(folders.htdocs), basename(folders.private), '-xdev', '-printf', FIELDS],
      { folder: home, terminal: true, network: false },
    ),
    { statuses: [0, INCOMPLETE], ownSession: true },
  );
  const stop = () => find.stop();
  signal?.addEventListener('abort', stop);
  find.stdin.end();
  try {
    const entries = await readEntries(find.stdout);
    signal?.throwIfAborted();
    requireOnlyVanished((await find.ended).stderr);
    for (const path of await hostLinks(layout, { ...install, home })) entries.delete(asBytes(path));
    return entries;
  } catch (error) {
    signal?.throwIfAborted();
    throw explainPacking(error);
  } finally {
    signal?.removeEventListener('abort', stop);
    await find.stop();
  }
}

async function readEntries(output: AsyncIterable<Buffer>): Promise<Map<string, ListedEntry>> {
  const entries = new Map<string, ListedEntry>();
  let rest = '';
  let fields: string[] = [];
  for await (const bytes of output) {
    const pieces = (rest + bytes.toString('latin1')).split('\0');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      fields.push(piece);
      const [type, path, kept, stamp] = fields;
      if (type === undefined || path === undefined || kept === undefined || stamp === undefined) continue;
      entries.set(path, { type, kept, stamp });
      fields = [];
    }
  }
  return entries;
}

const asBytes = (path: string): string => Buffer.from(path).toString('latin1');
