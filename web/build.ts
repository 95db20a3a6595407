/**
 * Builds the portal's pages into `web/dist`: `npm run build`. `--when-missing [FOLDER]` builds only if these pages
 * are missing or outdated, and into FOLDER if this user may not write into `web/dist`. It prints "building" when it begins to build, then
 * "built" or "present", each with the folder.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { replaceFolder } from '../src/lib/replace-folder.ts';

const web = import.meta.dirname;
/** Files smaller than this are not compressed: the response headers would cost more than compression saves. */
const LEAST_BYTES = 1024;

/** Builds into `folder`, which changes in one step at the end. Writes a Brotli and a gzip form beside each file. */
export async function buildPortal(folder: string): Promise<void> {
  // Before the build reads them: a file that changes meanwhile makes the pages outdated.
  const hash = sourcesHash();
  await replaceFolder(folder, async (fresh) => {
    await writePages(fresh);
    writeFileSync(join(fresh, MARK), hash);
  });
}

async function writePages(folder: string): Promise<void> {
  // Loaded here because every start of the server runs this file, and loading Vite takes longer than checking for
  // changes.
  const [{ build }, { default: configuration }] = await Promise.all([
    import('vite'),
    import('./vite.config.ts'),
  ]);
  const { NODE_ENV } = process.env;
  // Test runners set another value, which would build the slower development versions of the libraries.
  process.env.NODE_ENV = 'production';
  try {
    await build({
      ...configuration,
      // Otherwise Vite compiles this file and writes the result beside it, where this user may lack permission to
      // write.
      configFile: false,
      logLevel: 'warn',
      build: { ...configuration.build, outDir: folder },
    });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
  for (const name of filesBelow(folder)) {
    const file = join(folder, name);
    const content = readFileSync(file);
    if (content.length < LEAST_BYTES || !/\.(js|css|svg)$/.test(name)) continue;
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

/** Name of the file that holds the hash of the sources that a folder was built from. */
const MARK = 'built-from';

/** Builds into `folder` unless it was built from the current sources. Returns whether it built. */
export async function buildWhenMissing(folder: string): Promise<boolean> {
  if (isCurrent(folder)) return false;
  await buildPortal(folder);
  return true;
}

/** Builds missing pages into `preferred`, or into `otherwise` if this user may not write into the first. */
async function providePortal(
  preferred: string,
  otherwise: string,
): Promise<{ folder: string; built: boolean }> {
  const folder = isCurrent(preferred) || mayWrite(preferred) ? preferred : otherwise;
  if (isCurrent(folder)) return { folder, built: false };
  process.stdout.write(`building ${folder}\n`);
  await buildPortal(folder);
  return { folder, built: true };
}

/** Whether a folder was built from the current sources. */
export function isCurrent(folder: string): boolean {
  return readIfPresent(join(folder, MARK)) === sourcesHash();
}

function mayWrite(folder: string): boolean {
  try {
    for (const one of [dirname(folder), ...(existsSync(folder) ? [folder] : [])])
      accessSync(one, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const name of sources()) hash.update(`${name}\n`).update(readFileSync(join(web, name)));
  return hash.update(readFileSync(join(web, '../package-lock.json'))).digest('hex');
}

/** Paths of the sources in the folder of this file. */
function sources(): string[] {
  return (
    readdirSync(web, { withFileTypes: true })
      // Folders of builds, which can disappear while they are read.
      .filter(({ name }) => !name.startsWith('dist'))
      .flatMap((entry) =>
        entry.isDirectory()
          ? filesBelow(join(web, entry.name)).map((name) => join(entry.name, name))
          : [entry.name],
      )
      // Types are generated for the compiler, and no page contains them.
      .filter((name) => !/(\.test|-types)\.ts$/.test(name))
      .sort()
  );
}

/** Paths of its files, in it. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const folder = join(web, 'dist');
  const [option, otherwise] = process.argv.slice(2);
  if (option === '--when-missing') {
    const provided = await providePortal(folder, otherwise ?? folder);
    process.stdout.write(`${provided.built ? 'built' : 'present'} ${provided.folder}\n`);
  } else {
    await buildPortal(folder);
    process.stdout.write(`The portal was built into ${folder}.\n`);
  }
}
