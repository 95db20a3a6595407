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
/** For the files of one website. With very many, or a slow disk, it counts as changed. */
const LOOK_MS = 20 * SECOND_MS;
/** For all websites of a question, which must be answered within five minutes. Those that are left count as changed. */
const PAGE_MS = 4 * MINUTE_MS;
/** The times of files are some milliseconds behind the clock. */
const MARGIN_MS = SECOND_MS;
const AT_ONCE = 2;

const schema = Type.Object({
  /** No file has changed since, in milliseconds since 1970. */
  since: Type.Integer(),
  /** Start of the machine by its clock, in milliseconds since 1970. With another one, the clock was set, and times of files may repeat. */
  started: Type.Integer(),
  /** Writes of the database user so far; null if that was unknown. */
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
  lookMs = LOOK_MS,
  pageMs = PAGE_MS,
}: {
  layout: Pick<LinuxLayout, 'htdocsOf' | 'privateOf'>;
  writes: DatabaseWrites;
  clock: Clock;
  lookMs?: number;
  pageMs?: number;
}): WebsiteMarks {
  /** The kernel's monotonic clock counts from its start, and cannot be set. */
  const started = () => clock.now().getTime() - Math.round(Number(process.hrtime.bigint()) / 1_000_000);

  /**
   * Each change of a file, of its name, owner or mode, changes the time of its inode or of a folder (`ctime`), which no program can set. `find` follows
   * no link and opens no file, so it needs no sandbox.
   */
  async function hasChangedFile(installId: string, since: number, timeoutMs: number): Promise<boolean> {
    if (since > clock.now().getTime() || timeoutMs <= 0) return true;
    const folders = [layout.htdocsOf(installId), layout.privateOf(installId)];
    const newer = ['-newerct', `@${since / SECOND_MS}`, '-print', '-quit'];
    try {
      return (await runCommand(FIND, [...folders, '-xdev', ...newer], { timeoutMs })).stdout !== '';
    } catch (error) {
      // A folder vanished, or it took too long. One website must not keep all others of its host from being looked at.
      if (error instanceof CommandError) return true;
      throw error;
    }
  }

  return {
    async take({ unixUser }) {
      const since = clock.now().getTime() - MARGIN_MS;
      const writesOf = await writes();
      return JSON.stringify({ since, started: started(), writes: writesOf(unixUser) });
    },

    async unchanged(marked) {
      if (marked.length === 0) return [];
      const end = clock.now().getTime() + pageMs;
      const writesOf = await writes();
      const found = await mapConcurrent([...marked], AT_ONCE, async ({ installId, mark, unixUser }) => {
        const before = parsed(mark);
        if (before === null || before.writes === null || before.writes !== writesOf(unixUser)) return [];
        if (Math.abs(started() - before.started) > MARGIN_MS / 2) return [];
        const timeoutMs = Math.min(lookMs, end - clock.now().getTime());
        return (await hasChangedFile(installId, before.since, timeoutMs)) ? [] : [installId];
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
