import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../../lib/clock.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import type { MarkedWebsite } from '../../contract/recovery-points.ts';
import type { DatabaseWrites } from '../daemons/database-writes.ts';
import type { LinuxLayout } from '../machine/layout.ts';

const FIND = '/usr/bin/find';
const LOOK_MS = 5 * MINUTE_MS;
/** The times of files are some milliseconds behind the clock. */
const MARGIN_MS = SECOND_MS;
const AT_ONCE = 2;

const schema = Type.Object({
  /** No file has changed since, in milliseconds since 1970. */
  since: Type.Integer(),
  /** What the user of the database had written; null if that was unknown. */
  writes: Type.Union([Type.String(), Type.Null()]),
});

/** Tells whether websites have changed: their files by the times of their inodes, and their databases by what the user has written. */
export interface WebsiteMarks {
  /** The mark of a website as it is now. */
  take(website: { installId: string; unixUser: string }): Promise<string>;
  /** Ids of the websites that have not changed since. */
  unchanged(marked: readonly (MarkedWebsite & { unixUser: string })[]): Promise<string[]>;
}

export function createWebsiteMarks({
  layout,
  writes,
  clock,
}: {
  layout: Pick<LinuxLayout, 'htdocsOf' | 'privateOf'>;
  writes: DatabaseWrites;
  clock: Clock;
}): WebsiteMarks {
  /**
   * Each change of a file, of its name, owner or mode, changes the time of its inode or of a folder (`ctime`), which no program can set. `find` follows
   * no link and opens no file, so it needs no sandbox.
   */
  async function hasChangedFile(installId: string, since: number): Promise<boolean> {
    if (since > clock.now().getTime()) return true;
    const folders = [layout.htdocsOf(installId), layout.privateOf(installId)];
    const newer = ['-newerct', `@${since / SECOND_MS}`, '-print', '-quit'];
    try {
      return (await runCommand(FIND, [...folders, '-xdev', ...newer], { timeoutMs: LOOK_MS })).stdout !== '';
    } catch (error) {
      // A folder vanished.
      if (error instanceof CommandError && error.status === 1) return true;
      throw error;
    }
  }

  return {
    async take({ unixUser }) {
      const since = clock.now().getTime() - MARGIN_MS;
      const writesOf = await writes();
      return JSON.stringify({ since, writes: writesOf(unixUser) });
    },

    async unchanged(marked) {
      if (marked.length === 0) return [];
      const writesOf = await writes();
      const found = await mapConcurrent([...marked], AT_ONCE, async ({ installId, mark, unixUser }) => {
        const before = parsed(mark);
        if (before === null || before.writes === null || before.writes !== writesOf(unixUser)) return [];
        return (await hasChangedFile(installId, before.since)) ? [] : [installId];
      });
      return found.flat();
    },
  };
}

function parsed(mark: string) {
  try {
    const value: unknown = JSON.parse(mark);
    return Value.Check(schema, value) ? value : null;
  } catch {
    return null;
  }
}
