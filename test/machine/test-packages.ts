import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDebianPackage } from '../../tools/release/debian.ts';
import { outputOf, type Run, run } from '../../tools/release/run.ts';
import { allowedSigners } from '../../tools/release/signature.ts';
import { stageBuilt } from '../../tools/release/stage.ts';

/** Three packages of one commit. */
export interface TestPackages {
  /** The private key whose signatures they accept. */
  key: string;
  first: string;
  /** With one more migration. */
  newer: string;
  /** With two more migrations. Its server ends once it has migrated. */
  broken: string;
}

type Kind = Exclude<keyof TestPackages, 'key'>;
/** In this order, because each is the one before with a change. */
const KINDS = ['first', 'newer', 'broken'] as const;

const MIGRATIONS = 'src/database/migrate.ts';
const KEY = 'key';
const OPENING = 'src/app/open-platform.ts';

/** Makes the packages of the last commit in `folder`, unless they are there. */
export async function testPackages(
  repository: string,
  folder: string,
  progress: (step: string) => void,
): Promise<TestPackages> {
  const commit = await outputOf('git', ['rev-parse', 'HEAD'], repository);
  const made = join(folder, commit);
  if (!existsSync(made)) {
    // Those of another commit are not used again.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const work = await mkdtemp(join(folder, 'work-'));
    await makePackages({ repository, commit, work, progress });
    await rename(join(work, 'made'), made);
    await rm(work, { recursive: true });
  }
  return {
    key: join(made, KEY),
    first: await only(made, 'first'),
    newer: await only(made, 'newer'),
    broken: await only(made, 'broken'),
  };
}

async function only(made: string, kind: Kind): Promise<string> {
  const [name = ''] = await readdir(join(made, kind));
  return join(made, kind, name);
}

interface Making {
  repository: string;
  commit: string;
  /** An empty folder. The packages are in its folder `made` afterwards. */
  work: string;
  progress: (step: string) => void;
}

async function makePackages({ repository, commit, work, progress }: Making): Promise<void> {
  const clone = join(work, 'clone');
  await run('git', ['clone', '--quiet', repository, clone], work);
  const commitTime = Number(await outputOf('git', ['log', '-1', '--format=%ct'], clone));
  progress('npm ci');
  await quietly('npm', ['ci', '--silent', '--no-audit', '--no-fund'], clone);
  await quietly('npm', ['run', '--silent', 'generate'], clone);
  const key = join(work, 'made', KEY);
  await mkdir(join(work, 'made'));
  await quietly('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key], work);
  for (const kind of KINDS) {
    progress(`the ${kind} package`);
    const version = await change(kind, clone);
    await quietly('npm', ['run', '--silent', 'build'], clone);
    const place = join(work, kind);
    const stage = join(place, 'stage');
    const dist = join(work, 'made', kind);
    await mkdir(dist, { recursive: true });
    await stageBuilt({ clone, stage, commit, commitTime });
    await writeFile(join(stage, 'release-signers'), `${await allowedSigners({ key, next: null })}\n`);
    await makeDebianPackage({ stage, work: place, dist, version, commitTime }, quietly);
    await rm(place, { recursive: true });
  }
}

const quietly: Run = async (program, words, folder, environment = {}) => {
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  await outputOf('env', [...assignments, program, ...words], folder);
};

/** Changes the sources of the clone from the former kind to this one. Returns the version. */
async function change(kind: Kind, clone: string): Promise<string> {
  if (kind === 'newer') await addMigration(clone, '9001-first-of-test');
  if (kind === 'broken') {
    await addMigration(clone, '9002-second-of-test');
    await edit(
      join(clone, OPENING),
      'return { database, migrations };',
      `throw new Error('This version is broken.');`,
    );
  }
  const file = join(clone, 'package.json');
  const [, version = '', major, minor, patch] =
    /"version": "((\d+)\.(\d+)\.(\d+)[^"]*)"/.exec(await readFile(file, 'utf8')) ?? [];
  if (kind === 'first') return version;
  const next = `${major}.${minor}.${Number(patch) + 1}`;
  await edit(file, `"version": "${version}"`, `"version": "${next}"`);
  return next;
}

async function addMigration(clone: string, name: string): Promise<void> {
  const table = name.replace(/\W/g, '_');
  const source = `export const added = () => ['create table t${table} (id integer primary key)'];\n`;
  await writeFile(join(clone, 'src/database/migrations', `${name}.ts`), source);
  const file = join(clone, MIGRATIONS);
  await edit(file, /^};$/m, `  '${name}': t${table},\n};`);
  await edit(file, /^/, `import { added as t${table} } from './migrations/${name}.ts';\n`);
}

async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const before = await readFile(file, 'utf8');
  const after = before.replace(from, () => to);
  if (after === before) throw new Error(`${file} has no ${from}`);
  await writeFile(file, after);
}
