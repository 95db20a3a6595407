/**
 * Builds the portal's pages into `web/dist`: `npm run build`. With `--when-missing`, as `npm start` has it, only if what lies
 * there was not built from the present sources.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const web = import.meta.dirname;
/** What is gained by compressing less than this is lost to headers. */
const LEAST_BYTES = 1024;

/** Builds into `folder`, each file with its compressed forms beside it. */
export async function buildPortal(folder: string): Promise<void> {
  const { NODE_ENV } = process.env;
  // Libraries ship slower selves for whoever develops them; test runners ask for those.
  process.env.NODE_ENV = 'production';
  try {
    await build({ configFile: join(web, 'vite.config.ts'), logLevel: 'warn', build: { outDir: folder } });
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
  writeFileSync(join(folder, MARK), sourcesHash());
}

/** Tells from which sources a folder was built. */
const MARK = 'built-from';

/** Builds into `folder` unless it was built from the present sources. Returns whether it had to. */
export async function buildWhenMissing(folder: string): Promise<boolean> {
  const mark = readIfThere(join(folder, MARK));
  if (mark === sourcesHash()) return false;
  await buildPortal(folder);
  return true;
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const name of filesBelow(web)) {
    if (name.startsWith('dist/') || /\.test\.ts$/.test(name)) continue;
    hash.update(`${name}\n`).update(readFileSync(join(web, name)));
  }
  return hash.update(readFileSync(join(web, '../package-lock.json'))).digest('hex');
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const folder = join(web, 'dist');
  if (process.argv.includes('--when-missing')) {
    process.stderr.write((await buildWhenMissing(folder)) ? 'The portal was built.\n' : '');
  } else {
    await buildPortal(folder);
    process.stdout.write(`The portal was built into ${folder}.\n`);
  }
}
