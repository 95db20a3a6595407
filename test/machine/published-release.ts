import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RELEASE_INDEX, withRelease } from '../../src/lib/releases/release-index.ts';
import { writeSums } from '../../tools/release/artifacts.ts';
import { run } from '../../tools/release/run.ts';
import { allowedSigners, sign, writeInstaller } from '../../tools/release/signature.ts';
import type { NamespaceMachine } from './namespace-machine.ts';

/** Lists of the same release. The signature of one is by another key, and the download of one ends in its middle. */
export const PUBLISHED = ['right', 'forged', 'cut'] as const;
export type Published = (typeof PUBLISHED)[number];

export interface PublishedRelease {
  /** The address of a list, on the machine. */
  address(which: Published): string;
  /** The address of the folder of its release. */
  folderOf(which: Published): string;
  end(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, 'release-server.ts');
const TEMPLATE = join(import.meta.dirname, '../../tools/release/install.sh');
const PORT = 8099;
const SUMS = 'SHA256SUMS';

/** Publishes a package as the newest release, signed with `key`, on a machine that runs. `folder` is emptied first. */
export async function publishRelease(
  machine: Pick<NamespaceMachine, 'inItsNetwork'>,
  { file, key, folder }: { file: string; key: string; folder: string },
): Promise<PublishedRelease> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const other = join(folder, 'other-key');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other], folder);
  for (const which of PUBLISHED) await publish(join(folder, which), file, which === 'forged' ? other : key);
  const [program, ...words] = machine.inItsNetwork(process.execPath, PROGRAM, folder, String(PORT));
  const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  return {
    address: (which) => `http://127.0.0.1:${PORT}/${which}/${RELEASE_INDEX}`,
    folderOf: (which) => `http://127.0.0.1:${PORT}/${which}/${versionOf(file)}/`,
    async end() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}

async function publish(folder: string, file: string, key: string): Promise<void> {
  const version = versionOf(file);
  const release = join(folder, version);
  await mkdir(release, { recursive: true });
  await symlink(file, join(release, basename(file)));
  const signers = await allowedSigners({ key, next: null });
  await writeInstaller({ template: TEMPLATE, file: join(release, 'install.sh') }, { signers, address: '' });
  await writeSums(release);
  await sign(release, SUMS, { key, next: null }, run);
  const listed = {
    version,
    date: '2026-01-01',
    security: false,
    notes: 'https://example.com/notes',
    folder: `${version}/`,
    files: [{ name: basename(file), size: (await stat(file)).size, sha256: '0'.repeat(64) }],
  };
  await writeFile(join(folder, RELEASE_INDEX), withRelease(null, listed));
}

/** Of a package, by the name of its file. */
export const versionOf = (file: string): string => basename(file).split('_')[1] ?? '';
