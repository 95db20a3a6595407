import { mkdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runCommand } from '../../../lib/run-command.ts';
import { START_MS } from './process-place.ts';

/** The program of the processes that run PHP: its code and its packages. */
export interface ProcessProgram {
  /** Contains all of it. The packages are links. */
  folder: string;
  /** The module that runs, relative to the folder. */
  entry: string;
  /** Folders of the machine, and where they are in the folder. The first one has the code. */
  parts: readonly [ProgramPart, ...ProgramPart[]];
}

interface ProgramPart {
  from: string;
  to: string;
}

const WRITER = join(import.meta.dirname, 'write-process-code.ts');
const CODE = 'code';
const PACKAGES = 'node_modules';

/** Writes the program into a new folder below `folder`. */
export async function writeProcessProgram(folder: string, signal?: AbortSignal): Promise<ProcessProgram> {
  const require = createRequire(import.meta.url);
  const packages = {
    '@php-wasm': dirname(dirname(require.resolve('@php-wasm/node-8-4/package.json'))),
    'wasm-feature-detect': dirname(dirname(dirname(require.resolve('wasm-feature-detect')))),
  };
  const program = join(folder, 'program');
  await mkdir(join(program, PACKAGES), { recursive: true, mode: 0o700 });
  // In a process of its own, which takes the memory of the compiler with it.
  await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', WRITER, join(program, CODE)], {
    timeoutMs: START_MS,
    signal,
  });
  const parts = Object.entries(packages).map(([name, from]) => ({ from, to: join(PACKAGES, name) }));
  for (const { from, to } of parts) await symlink(from, join(program, to));
  return {
    folder: program,
    entry: join(CODE, 'process/main.mjs'),
    parts: [{ from: join(program, CODE), to: CODE }, ...parts],
  };
}
