import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** The scripts of imports, which these tests run by PHP without a sandbox. */
export const SCRIPTS = fileURLToPath(new URL('../../wordpress/php/', import.meta.url));

export type Entry = Partial<Header> & { name: string } & { content?: string | Buffer };

export async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.finalize();
  return buffer(tar);
}

/** Made by PHP's ZipArchive. `mode`: of an entry made on Unix. */
export function zipOf(entries: readonly { name: string; content: string | Buffer; mode?: number }[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'zip-'));
  const code = `$zip = new ZipArchive; $zip->open($argv[1], ZipArchive::CREATE);
    foreach (json_decode(stream_get_contents(STDIN), true) as $entry) {
      $zip->addFromString($entry['name'], base64_decode($entry['content']));
      if (isset($entry['mode'])) $zip->setExternalAttributesName($entry['name'], ZipArchive::OPSYS_UNIX, $entry['mode'] << 16);
    }
    $zip->close();`;
  const input = entries.map(({ content, ...rest }) => ({
    ...rest,
    content: Buffer.from(content).toString('base64'),
  }));
  try {
    const file = join(folder, 'made.zip');
    execFileSync('php', ['-r', code, file], { input: JSON.stringify(input) });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Of All-in-One WP Migration. */
export function wpressOf(entries: Record<string, string | Buffer>): Buffer {
  const parts = Object.entries(entries).flatMap(([path, content]) => {
    const header = Buffer.alloc(4377);
    const cut = path.lastIndexOf('/');
    header.write(path.slice(cut + 1), 0);
    header.write(String(Buffer.byteLength(content)), 255);
    header.write('1700000000', 269);
    header.write(cut < 0 ? '.' : path.slice(0, cut), 281);
    return [header, Buffer.from(content)];
  });
  return Buffer.concat([...parts, Buffer.alloc(4377)]);
}

/** Of Duplicator in its own format. */
export function dupArchiveOf(
  entries: Record<string, string | Buffer>,
  { isCompressed = true, pieceBytes = 1024 ** 2 } = {},
): Buffer {
  const parts = Object.entries(entries).flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    const length = Buffer.byteLength(path);
    const header = `<F><FS>${bytes.length}</FS><MT>1700000000</MT><P>0644</P><HA>00000000</HA><RPL>${length}</RPL><RP>${path}</RP></F>`;
    const pieces: Buffer[] = [Buffer.from(header)];
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      const stored = isCompressed ? deflateRawSync(piece) : piece;
      const mark = `<G><OS>${piece.length}</OS><SS>${stored.length}</SS><HA>00000000</HA></G>`;
      pieces.push(Buffer.from(mark), stored);
    }
    return pieces;
  });
  const folder = '<D><MT>1700000000</MT><P>0755</P><RPL>10</RPL><RP>wp-content</RP></D>';
  return Buffer.concat([Buffer.from(`<A><V>5.0.0</V><C>${isCompressed}</C></A>${folder}`), ...parts]);
}

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
