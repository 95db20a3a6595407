/**
 * Builds the program, which starts in half the time of its sources, if it is missing or outdated: `npm run build`. `--if-writable`
 * leaves that to other users if this one may not write it. Prints "built" or "present".
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import {
  type BuiltProgram,
  findBuiltProgram,
  libraryVersion,
  PROGRAMS,
  presentFile,
  RECORD_FILE,
  ROOT,
} from './built-program.ts';

const ENTRY = join(ROOT, 'src/main.ts');
const SOURCES = ['src', 'packages'];
const BUILDER = relative(ROOT, import.meta.filename);
const PACKAGES = join(ROOT, 'node_modules/');
/** Libraries that consist of hundreds of modules. Others stay in their packages. */
const LIBRARIES = ['kysely', 'typebox'];
/** Stands for Node's module `http` in the program. */
const HTTP = '\0http';
/** A running server still loads modules of the build that it started from. */
const BUILDS_KEPT = 5;

/** Builds the program and records it as the current one. */
async function buildProgram(): Promise<void> {
  mkdirSync(PROGRAMS, { recursive: true });
  const folder = mkdtempSync(join(PROGRAMS, 'build-'));
  try {
    await build(folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  removeFormer();
}

async function build(folder: string): Promise<void> {
  // Before the build reads them: a file that changes meanwhile makes the program outdated.
  const before = new Map(SOURCES.flatMap(filesBelow).map((path) => [path, presentFile(path)]));
  const sources = await writeModules(folder);
  // Made for this user alone; other users run the program of root.
  chmodSync(folder, 0o755);
  const program: BuiltProgram = {
    folder: relative(PROGRAMS, folder),
    files: [
      ...[...sources, BUILDER].map((path) => before.get(path) ?? presentFile(path)),
      // After a power cut, modules can be empty.
      ...filesBelow(relative(ROOT, folder)).map(presentFile),
    ],
    libraries: Object.fromEntries([...LIBRARIES, 'rolldown'].map((name) => [name, libraryVersion(name)])),
  };
  // In one step, because servers read the record when they start.
  const record = join(folder, 'record.json');
  writeFileSync(record, JSON.stringify(program));
  renameSync(record, RECORD_FILE);
}

function filesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

/** Writes the modules of the program. Returns the paths of the sources that it was built from, without those of libraries. */
async function writeModules(folder: string): Promise<string[]> {
  const bundle = await rolldown({
    input: ENTRY,
    cwd: ROOT,
    platform: 'node',
    // Its options are those of the type checker.
    tsconfig: false,
    external: isExternal,
    plugins: [
      { name: 'source-locations', transform: (code, id) => withSourceLocation(code, id, folder) },
      {
        name: 'http-without-websockets',
        resolveId: (id) => (id === 'node:http' ? HTTP : undefined),
        load: (id) => (id === HTTP ? httpWithoutWebSockets() : undefined),
      },
    ],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
    comments: { legal: false, annotation: false, jsdoc: false },
    // V8 stores texts with other characters in twice the memory. Names and lines stay readable in stack traces.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  });
  await bundle.close();
  const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
  return modules
    .filter((id) => id.startsWith(ROOT) && !id.startsWith(PACKAGES))
    .map((id) => relative(ROOT, id));
}

function isExternal(id: string): boolean {
  if (id === 'node:http') return false;
  const isPackage = !id.startsWith('.') && !id.startsWith('/');
  return isPackage && !LIBRARIES.some((name) => id === name || id.startsWith(`${name}/`));
}

/**
 * `import` reads all properties of Node's module, and its WebSocket loads a second HTTP client: 13 MB
 * (https://github.com/nodejs/node/issues/59686). This module reads the others only.
 */
function httpWithoutWebSockets(): string {
  const names = Object.entries(Object.getOwnPropertyDescriptors(http))
    .filter(([, { get }]) => get === undefined)
    .map(([name]) => name);
  return `export const { ${[...names, 'maxHeaderSize'].join(', ')} } = process.getBuiltinModule('node:http');`;
}

/** Files beside a module, such as those of its worker threads, are found at its source, wherever Homeport's folder is. */
function withSourceLocation(code: string, id: string, folder: string): string | undefined {
  if (id.startsWith(PACKAGES) || !code.includes('import.meta.')) return undefined;
  const source = relative(folder, id);
  const parent = `process.getBuiltinModule('node:path').join(import.meta.dirname, ${JSON.stringify(dirname(source))})`;
  return code
    .replaceAll('import.meta.dirname', parent)
    .replaceAll(/import\.meta\.url/g, `new URL(${JSON.stringify(source)}, import.meta.url).href`);
}

function removeFormer(): void {
  const builds = readdirSync(PROGRAMS)
    .filter((name) => name.startsWith('build-'))
    .map((name) => ({ folder: join(PROGRAMS, name), at: statSync(join(PROGRAMS, name)).mtimeMs }))
    .sort((one, other) => other.at - one.at);
  for (const { folder } of builds.slice(BUILDS_KEPT)) rmSync(folder, { recursive: true, force: true });
}

function mayWrite(): boolean {
  let folder = PROGRAMS;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const isWanted = findBuiltProgram() === null && (process.argv[2] !== '--if-writable' || mayWrite());
if (isWanted) await buildProgram();
process.stdout.write(isWanted ? 'built\n' : 'present\n');
