import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './error-code.ts';

/**
 * Creates a folder and those above it, each with `mode`. Returns whether the folder is new. For paths that an operator names: `mkdir` of
 * Node with `recursive` never returns for a path like `/proc/x`, whose parent exists and takes no folders. Throws the error of the system,
 * or one with the code ENOTDIR if a file has the name.
 */
export function createFolders(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT') && !isThere(dirname(path))) {
      createFolders(dirname(path), mode);
      return createFolders(path, mode);
    }
    // A read-only disk answers EROFS, and a root-owned folder EACCES, also for a folder that exists.
    if (!isThere(path)) throw error;
  }
  if (statSync(path).isDirectory()) return false;
  throw Object.assign(new Error(`${path} is a file, not a folder`), { code: 'ENOTDIR' });
}

function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}
