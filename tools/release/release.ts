/**
 * `npm run release`: releases what `main` has. In a clone it runs the checks and gives the unreleased changes of CHANGELOG.md their
 * version. It keeps data of that version for upgrade tests, commits, tags, builds the artifacts, and begins the next version. Only then
 * does this repository get the commits, the tag and `dist/`: a failure changes nothing here. `--without-checks` is for
 * a commit whose `.ci/run` has passed. HOMEPORT_RELEASE_KEY names the key that signs; `--unsigned` releases without one.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Value } from 'typebox/value';
import { buildArtifacts, requireReplaceable } from './artifacts.ts';
import { releaseChanges, sectionOf } from './changelog.ts';
import { checksumsOf, ReleasedMigrations, withRelease } from './released-migrations.ts';
import { cloneForRelease, requireBranch, tagRelease, takeRelease } from './repository.ts';
import { outputOf, run } from './run.ts';
import { signingKeys } from './signature.ts';
import { developmentAfter, releaseAfter } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const BRANCH = 'main';
/** Manifests with the version of the program. */
const MANIFESTS = ['.', 'packages/client'];
const MIGRATIONS = 'test/releases/migrations.json';

const { values } = parseArgs({
  options: {
    'without-checks': { type: 'boolean', default: false },
    unsigned: { type: 'boolean', default: false },
  },
});
if (!values.unsigned && signingKeys(process.env) === null) {
  throw new Error(
    'HOMEPORT_RELEASE_KEY names no key to sign the release with. "--unsigned" releases without one.',
  );
}
await release({ isChecked: values['without-checks'] });

async function release({ isChecked }: { isChecked: boolean }): Promise<void> {
  const version = releaseAfter(await versionIn(ROOT));
  await requireReady(version);
  const work = await mkdtemp(join(tmpdir(), 'homeport-release-'));
  try {
    const clone = join(work, 'clone');
    await cloneForRelease(ROOT, BRANCH, clone);
    if (isChecked) await run('npm', ['ci', '--no-audit', '--no-fund'], clone);
    else await run('.ci/run', [], clone);
    await writeRelease(clone, version);
    await keepData(clone, version);
    await commit(clone, `chore(release): ${version}`);
    await buildArtifacts(clone, 'HEAD', join(work, 'dist'));
    await tagRelease(clone, `v${version}`, await messageOf(clone, version));
    await setVersion(clone, developmentAfter(version));
    await commit(clone, `chore(release): begin ${developmentAfter(version)}`);
    await takeRelease(ROOT, clone, { branch: BRANCH, tag: `v${version}` });
    await rm(join(ROOT, 'dist'), { recursive: true, force: true });
    await cp(join(work, 'dist'), join(ROOT, 'dist'), { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  process.stdout.write(
    `Released ${version}. Next:\n  git push --follow-tags\n  publish the files of dist/ with the section of CHANGELOG.md\n`,
  );
}

/** Throws an Error for what would fail after the checks, such as changes that are not committed. */
async function requireReady(version: string): Promise<void> {
  await requireBranch(ROOT, BRANCH);
  if ((await outputOf('git', ['status', '--porcelain'], ROOT)) !== '') {
    throw new Error('There are changes that are not committed. Commit them first.');
  }
  if ((await outputOf('git', ['tag', '--list', `v${version}`], ROOT)) !== '') {
    throw new Error(`The tag v${version} exists already.`);
  }
  await requireReplaceable(join(ROOT, 'dist'));
  // Rejects with git's own advice.
  await outputOf('git', ['var', 'GIT_COMMITTER_IDENT'], ROOT);
}

async function writeRelease(clone: string, version: string): Promise<void> {
  await edit(join(clone, 'CHANGELOG.md'), (text) =>
    releaseChanges(text, { version, date: new Date().toISOString().slice(0, 10) }),
  );
  await setVersion(clone, version);
  const { migrationStatements } = await import('../../src/database/migrate.ts');
  await edit(join(clone, MIGRATIONS), (text) => {
    const released = Value.Parse(ReleasedMigrations, JSON.parse(text));
    return `${JSON.stringify(withRelease(released, version, checksumsOf(migrationStatements())), null, 2)}\n`;
  });
}

/** Data of this version on both databases, which later versions upgrade in their tests. */
async function keepData(clone: string, version: string): Promise<void> {
  const projects = ['--project', 'sqlite', '--project', 'postgres'];
  await run('bin/node', ['node_modules/.bin/vitest', 'run', ...projects, 'test/releases'], clone, {
    HOMEPORT_RELEASE_DATA: version,
  });
}

/** In the manifests, and in the lock file. */
async function setVersion(clone: string, version: string): Promise<void> {
  for (const folder of MANIFESTS) {
    await run('npm', ['version', '--silent', '--no-git-tag-version', version], join(clone, folder));
  }
}

async function versionIn(folder: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return String(typeof manifest === 'object' && manifest !== null && Reflect.get(manifest, 'version'));
}

async function messageOf(clone: string, version: string): Promise<string> {
  const section = sectionOf(await readFile(join(clone, 'CHANGELOG.md'), 'utf8'), version);
  return `Homeport ${version}\n${section}`;
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

async function commit(clone: string, subject: string): Promise<void> {
  await run('git', ['add', '--all'], clone);
  await run('git', ['commit', '--quiet', '--message', subject], clone);
}
