import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { fatalsIn } from '../../wordpress/fatal-errors.ts';
import type { Layout } from '../host-folder/layout.ts';
import { ERROR_LOG } from '../php/process/error-log.ts';
import { PRIVATE } from './site.ts';

/** Bytes at the end of the log that are searched for fatal errors. */
const NEWEST_BYTES = 64 * 1024;
/** A website may put a link or a pipe in the place of its log. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The latest fatal errors in the log of a website's PHP, oldest first: without their times, with file and line. */
export async function newestFatals(layout: Pick<Layout, 'filesOf'>, installId: string): Promise<string[]> {
  const log = await ifThere(open(join(layout.filesOf(installId), PRIVATE, ERROR_LOG), FLAGS));
  if (log === null) return [];
  try {
    const stats = await log.stat();
    if (!stats.isFile()) return [];
    const start = Math.max(0, stats.size - NEWEST_BYTES);
    const { buffer, bytesRead } = await log.read(
      Buffer.alloc(stats.size - start),
      0,
      stats.size - start,
      start,
    );
    return fatalsIn(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await log.close();
  }
}
