import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { MACHINE_MEMORY, usualSiteMb, WASM_MEMORY } from '../../policy/wasm-php-limits.ts';
import { findMachinePhp } from '../../runtime/machine/machine-engine.ts';
import { OWN_PREFIX } from '../../runtime/wasm/abandoned-entries.ts';
import { createConfinedPlaces } from '../../runtime/wasm/confined-places.ts';
import { createProcessFolder } from '../../runtime/wasm/process-folder.ts';
import { writeProcessProgram } from '../../runtime/wasm/process-program.ts';
import { requirePackages, WASM_PHP } from '../../runtime/wasm/required-packages.ts';
import { UnconfinedError } from '../../runtime/wasm/unconfined-error.ts';
import { heldVersions } from '../../wordpress/core-tree.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';
import type { Layout } from '../host-folder/layout.ts';
import { createVhostStore } from '../host-folder/vhost-store.ts';
import { type PhpSetting, readKeptPhp, whyNotMachine } from '../php-choice.ts';

/** Whether the host has a website with WordPress. Reads its folder. */
export async function hasWordPressIn(layout: Layout): Promise<boolean> {
  const store = createVhostStore(layout);
  for (const id of (await ifThere(store.list())) ?? []) {
    if ((await store.read(id).catch(() => null))?.file.wordpress !== undefined) return true;
  }
  return false;
}

/** Parts of an embedded host that WordPress needs. */
export interface InspectedWordPress {
  /** Why PHP cannot run; null if its packages are installed. */
  missing: string | null;
  /** Why bubblewrap does not confine PHP as WebAssembly; null if it does, on a system without it, or if websites use another PHP. */
  unconfined: UnconfinedError | null;
  /** Newest first. */
  versions: string[];
  websites: number;
  /** Versions that websites need and this host lacks. */
  lacking: string[];
  /** The version of the machine's PHP, or why websites do not use it, as a clause; null: they shall use the one of Homeport. */
  machine: { version: string } | { reason: string } | null;
  /** Whether websites ran on the machine's PHP, and cannot now. */
  isLost: boolean;
  /** The version of PHP as WebAssembly, `major.minor`. */
  wasmVersion: string;
  /** Memory of the PHP of one website with the defaults in MiB. */
  processMb: number;
}

/** Looks at the machine and the host's folder. Changes neither. `path`: folders of programs. */
export async function inspectWordPress(
  layout: Layout,
  { setting, path }: { setting: PhpSetting; path: string },
): Promise<InspectedWordPress> {
  const missing = missingPackage();
  const versions = await heldVersions(layout.cores);
  const used = await usedVersions(layout);
  const last = await readKeptPhp(layout.phpChoice);
  const against = await whyNotMachine({ setting, last, hasWordPress: async () => used.length > 0 });
  const machine =
    setting === 'wasm'
      ? null
      : against === null
        ? await machineFor(layout, path, last?.version ?? null)
        : { reason: against };
  const isWasm = machine === null || (setting !== 'machine' && 'reason' in machine);
  return {
    missing,
    unconfined: isWasm && missing === null && process.platform === 'linux' ? await whyUnconfined() : null,
    versions,
    websites: used.length,
    lacking: [...new Set(used)].filter((version) => !versions.includes(version)).sort(),
    machine,
    isLost:
      machine !== null &&
      'reason' in machine &&
      against === null &&
      last?.engine === 'machine' &&
      used.length > 0,
    wasmVersion: WASM_PHP,
    processMb: usualSiteMb(isWasm ? WASM_MEMORY : MACHINE_MEMORY),
  };
}

function missingPackage(): string | null {
  try {
    requirePackages();
    requirePackagedFiles();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function whyUnconfined(): Promise<UnconfinedError | null> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-doctor-'));
  try {
    const places = await createConfinedPlaces(folder, await writeProcessProgram(folder));
    await places.close();
    return null;
  } catch (error) {
    if (error instanceof UnconfinedError) return error;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Tries it in a new folder, which a running server leaves alone: on the file system of the websites, if it exists. */
async function machineFor(
  layout: Layout,
  path: string,
  preferred: string | null,
): Promise<InspectedWordPress['machine']> {
  const present = (await ifThere(stat(layout.php))) === null ? tmpdir() : layout.php;
  const folder = await mkdtemp(join(present, OWN_PREFIX));
  const sockets = await createProcessFolder(present);
  try {
    const found = await findMachinePhp({ folder, sockets }, path, preferred);
    return found.php === undefined ? { reason: found.reason } : { version: found.php.version };
  } finally {
    for (const one of [folder, sockets]) await rm(one, { recursive: true, force: true });
  }
}

/** The version of each website. */
async function usedVersions(layout: Layout): Promise<string[]> {
  const store = createVhostStore(layout);
  const ids = (await ifThere(store.list())) ?? [];
  const files = await Promise.all(ids.map((id) => store.read(id).catch(() => null)));
  return files.flatMap((read) => read?.file.wordpress?.version ?? []);
}
