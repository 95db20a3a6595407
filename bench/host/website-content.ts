import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textLiteral } from '../../src/hosting/linux/daemons/sql.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** Sizes in thousand bytes, 34.3 on average: 3,200 files are 110 MB. */
const SIZES = [4, 12, 24, 36, 48, 82];
export const FILES = 3_200;
const FOLDERS = 40;
/** 5,000 posts whose dump has 9 MB. */
export const POSTS = 5_000;
const POST_BYTES = 1_650;
const POSTS_A_STATEMENT = 250;

/**
 * Writes a website's uploads: incompressible pictures and compressible texts. The same `seed` gives the same bytes. `root`: the document
 * root, which nothing else uses meanwhile.
 */
export async function writeUploads(root: string, uid: number, seed: string): Promise<void> {
  const uploads = join(root, 'wp-content', 'uploads');
  for (let n = 0; n < FOLDERS; n++) {
    await rm(join(uploads, String(n)), { recursive: true, force: true });
    await mkdir(join(uploads, String(n)));
  }
  for (let n = 0; n < FILES; n++) {
    const size = (SIZES[n % SIZES.length] ?? 0) * 1_000;
    const isText = n % SIZES.length < 2;
    const content = isText ? noise(`${seed} ${n}`, size / 2).toString('hex') : noise(`${seed} ${n}`, size);
    await writeFile(join(uploads, String(n % FOLDERS), `${n}.${isText ? 'txt' : 'jpg'}`), content);
  }
  await runCommand('/usr/bin/chown', ['-hR', `${uid}:${uid}`, uploads]);
}

/** Statements that replace all posts by those of this `seed`. */
export function postStatements(seed: string): string {
  const statements = ["DELETE FROM wp_posts WHERE post_name LIKE 'bench-%'"];
  for (let first = 0; first < POSTS; first += POSTS_A_STATEMENT) {
    const rows = Array.from({ length: POSTS_A_STATEMENT }, (_, n) => {
      const content = noise(`${seed} post ${first + n}`, POST_BYTES / 2).toString('hex');
      return `(1, NOW(), NOW(), ${textLiteral(content)}, 'Bench', '', 'publish', 'bench-${first + n}', '', '', NOW(), NOW(), '')`;
    });
    statements.push(
      `INSERT INTO wp_posts (post_author, post_date, post_date_gmt, post_content, post_title, post_excerpt, post_status, post_name, to_ping, pinged, post_modified, post_modified_gmt, post_content_filtered) VALUES ${rows.join(', ')}`,
    );
  }
  return `${statements.join(';\n')};\n`;
}

function noise(seed: string, bytes: number): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}
