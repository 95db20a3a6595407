import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The scripts of imports, which these tests run by PHP without a sandbox. */
export const SCRIPTS = fileURLToPath(new URL('../../wordpress/php/', import.meta.url));

export interface Unpacked {
  answer: unknown;
  /** Files of wp-content; links with an arrow to their target. */
  files: string[];
  /** The folder that became wp-content. */
  place: string;
}

export interface Unpacker {
  /** A new folder for archives. */
  folder(): string;
  unpack(
    archive: Buffer,
    options?: { name?: string; bytes?: number; files?: number; site?: string },
  ): Unpacked;
  unpackIn(own: string, name: string, options?: { bytes?: number; files?: number; site?: string }): Unpacked;
  remove(): void;
}

/** Runs import-unpack.php, each time in new folders. */
export function createUnpacker(): Unpacker {
  const all = mkdtempSync(join(tmpdir(), 'import-'));
  const folder = () => mkdtempSync(join(all, 'archive-'));

  function unpackIn(own: string, name: string, { bytes = 0, files = 0, site = '' } = {}): Unpacked {
    const place = join(own, 'wp-content');
    const script = join(SCRIPTS, 'import-unpack.php');
    const limits = [`${bytes}`, `${files}`];
    const output = execFileSync('php', [script, join(own, name), join(own, 'tree'), place, ...limits, site], {
      encoding: 'utf8',
    });
    const last = output.trimEnd().split('\n').at(-1) ?? '';
    const answer: unknown = JSON.parse(last);
    const listed = last.startsWith('{"result"')
      ? execFileSync('find', [place, '-not', '-type', 'd', '-printf', '%P\t%y%l\n'], { encoding: 'utf8' })
      : '';
    const found = listed
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/\t./, (type) => (type === '\tl' ? ' -> ' : '')));
    return { answer, files: found.sort(), place };
  }

  return {
    folder,
    unpackIn,
    unpack(archive, { name = 'archive', ...options } = {}) {
      const own = folder();
      writeFileSync(join(own, name), archive);
      return unpackIn(own, name, options);
    },
    remove: () => rmSync(all, { recursive: true }),
  };
}
