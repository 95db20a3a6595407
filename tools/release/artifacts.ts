/**
 * `npm run artifacts [-- COMMIT [FOLDER]]`: builds the files of a release: an archive, a Debian package, the client for npm, an installer,
 * and their checksums. COMMIT is the present one by default, and FOLDER is `dist`. The environment may name the key that signs the
 * checksums (HOMEPORT_RELEASE_KEY), the key of later releases (HOMEPORT_RELEASE_NEXT_KEY), and where the release is published
 * (HOMEPORT_RELEASE_ADDRESS).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { ifThere } from '../../src/lib/if-there.ts';
import { makeDebianPackage } from './debian.ts';
import { outputOf, run } from './run.ts';
import { allowedSigners, sign, signingKeys, writeInstaller } from './signature.ts';
import { stageProgram } from './stage.ts';

const ROOT = join(import.meta.dirname, '../..');
const SUMS = 'SHA256SUMS';
const Manifest = Type.Object({ version: Type.String() });

/**
 * Builds the artifacts of a commit of the repository `from` into the folder `dist`, in place of former ones. Throws an Error if it has other
 * files.
 */
export async function buildArtifacts(from: string, commit: string, dist: string): Promise<void> {
  await requireReplaceable(dist);
  const work = await mkdtemp(join(tmpdir(), 'homeport-artifacts-'));
  try {
    const clone = join(work, 'clone');
    await run('git', ['clone', '--quiet', '--no-checkout', from, clone], work);
    await run('git', ['checkout', '--quiet', commit], clone);
    const full = await outputOf('git', ['rev-parse', 'HEAD'], clone);
    const commitTime = Number(await outputOf('git', ['log', '-1', '--format=%ct'], clone));
    const { version } = Value.Parse(
      Manifest,
      JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')),
    );
    const made = join(work, 'made');
    await mkdir(made);
    const name = `homeport-${version}`;
    const stage = join(work, name);
    await stageProgram({ clone, stage, commit: full, commitTime }, run);
    await writeSigners(stage);
    const archive = join(made, `${name}-linux-${process.arch}.tar.gz`);
    await run('tar', ['--create', '--gzip', '--file', archive, ...REPRODUCIBLE, name], work);
    await makeDebianPackage({ stage, work, dist: made, version, commitTime }, run);
    await run('npm', ['pack', '--silent', '--pack-destination', made], join(clone, 'packages/client'));
    await writeSignedSums(made, join(clone, INSTALLER));
    await rm(dist, { recursive: true, force: true });
    await cp(made, dist, { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Throws an Error if a folder has other files than those of a former build. */
export async function requireReplaceable(dist: string): Promise<void> {
  const names = (await ifThere(readdir(dist))) ?? [];
  if (names.length > 0 && !names.includes(SUMS)) {
    throw new Error(
      `${dist} has other files. Name a folder for the artifacts alone, which each build replaces.`,
    );
  }
}

/** `homeport upgrade` accepts what these keys have signed. */
async function writeSigners(stage: string): Promise<void> {
  const keys = signingKeys(process.env);
  if (keys !== null) await writeFile(join(stage, 'release-signers'), `${await allowedSigners(keys)}\n`);
}

const INSTALLER = 'tools/release/install.sh';

/** Writes the installer, the checksums and their signature. Without a key, there is no signature, and the installer refuses to work. */
async function writeSignedSums(dist: string, template: string): Promise<void> {
  const keys = signingKeys(process.env);
  const signers = keys === null ? '' : await allowedSigners(keys);
  const address = process.env.HOMEPORT_RELEASE_ADDRESS ?? '';
  await writeInstaller({ template, file: join(dist, 'install.sh') }, { signers, address });
  await writeSums(dist);
  if (keys === null) process.stderr.write('The files are not signed: HOMEPORT_RELEASE_KEY names no key.\n');
  else await sign(dist, SUMS, keys, run);
}

/** Two builds of a commit give the same archive. */
const REPRODUCIBLE = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];

/** For `sha256sum --check`. */
export async function writeSums(dist: string): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(dist)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(dist, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  await writeFile(join(dist, SUMS), lines.join(''));
}

if (import.meta.main) {
  const [commit = 'HEAD', dist = 'dist'] = process.argv.slice(2);
  await buildArtifacts(ROOT, commit, resolve(dist));
}
