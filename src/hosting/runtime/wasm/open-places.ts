import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PhpRoots, PhpSite } from './php-sites.ts';
import { DESCRIPTORS, nodeArguments, PROCESS_ENVIRONMENT, type ProcessPlaces } from './process-place.ts';
import type { ProcessProgram } from './process-program.ts';
import type { PhpFolders } from './process-protocol.ts';

/** Places on a machine without namespaces: the virtual file system and Node's permissions separate websites. */
export function createOpenPlaces(folder: string, program: ProcessProgram, roots: PhpRoots): ProcessPlaces {
  // With a star too, because some of them may not exist when Node starts.
  const below = (folders: readonly string[]) => folders.flatMap((path) => [path, join(path, '*')]);
  const writable = below(roots.writable);
  const readable = below(roots.readable);
  const programs = [program.folder, ...program.parts.map(({ from }) => from)];
  let last = 0;
  return {
    walls: 'virtual file system, Node permissions',
    isUsable: true,
    async create() {
      const run = join(folder, String(++last));
      // Not recursive: that would bring back the folder of a runtime that has been closed.
      await mkdir(run, { mode: 0o700 });
      const read = [...programs, '/proc/self', ...writable, ...readable, run];
      return {
        run,
        innerRun: run,
        program: {
          path: process.execPath,
          arguments: nodeArguments(join(program.folder, program.entry), read, [
            DESCRIPTORS,
            ...writable,
            run,
          ]),
          environment: PROCESS_ENVIRONMENT,
        },
        // The virtual file system keeps it from being changed.
        showPattern: async (pattern) => foldersOf(pattern),
        show: async (site) => foldersOf(site),
        remove: () => rm(run, { recursive: true, force: true }),
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

const foldersOf = ({ core, website, private: own, database, readOnly }: PhpSite): PhpFolders => ({
  core,
  website,
  private: own,
  database,
  readOnly: Object.entries(readOnly).map(([path, folder]) => ({ path, folder })),
});
