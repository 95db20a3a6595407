import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { runCommand, succeeds } from '../../src/lib/run-command.ts';
import { aptMirrors, sourcesList } from '../machine/apt-mirrors.ts';
import type { Engine } from './engine.ts';

export const BASE = 'localhost/homeport-test-base';
const RELEASE = 'trixie';
const MAKE_MS = 1_800_000;
/** Authorities that this machine trusts besides Debian's, such as that of a proxy. */
const AUTHORITIES = '/usr/local/share/ca-certificates';

/**
 * Makes the image that `debian:trixie-slim` is elsewhere, from Debian's packages, unless the engine has it. No registry of images is
 * needed. Throws an OperatorError without mmdebstrap.
 */
export async function loadBase(engine: Engine): Promise<void> {
  if ((await engine.run(['images', '--quiet', BASE])) !== '') return;
  if (!(await succeeds('which', ['mmdebstrap']))) {
    throw new OperatorError('The base image is made by mmdebstrap. Install it: apt-get install mmdebstrap');
  }
  const folder = await mkdtemp(join(tmpdir(), 'homeport-base-'));
  try {
    const archive = join(folder, 'base.tar');
    const sources = join(folder, 'sources.list');
    await writeFile(sources, sourcesList(await aptMirrors(), RELEASE));
    const words = ['--variant=minbase', '--include=ca-certificates', '--skip=check/qemu'];
    const authorities = (await succeeds('test', ['-d', AUTHORITIES]))
      ? [
          `--customize-hook=copy-in ${AUTHORITIES} /usr/local/share`,
          '--customize-hook=chroot "$1" update-ca-certificates',
        ]
      : [];
    await runCommand('mmdebstrap', [...words, ...authorities, RELEASE, archive, sources], {
      timeoutMs: MAKE_MS,
    });
    await engine.run(['import', archive, BASE]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
