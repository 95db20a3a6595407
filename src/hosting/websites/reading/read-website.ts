import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import {
  MOST_ADMINISTRATORS,
  MOST_PLUGINS,
  MOST_THEMES,
  type WordPressReading,
  type WordPressUnread,
} from '../../contract/wordpress.ts';
import type { InstallRuntime, ScriptEnd, ScriptRun } from '../../runtime/runtime.ts';
import { doesNotStart } from '../../wordpress/does-not-start.ts';
import {
  type PrintedCheck,
  type PrintedWebsite,
  parseCheck,
  parseWebsite,
  readingOf,
} from './website-reading.ts';
import { wordpressMark } from './wordpress-mark.ts';

/** A website to read. */
export interface ReadWebsite {
  id: string;
  runtime: InstallRuntime;
  /** Of its WordPress. */
  version: string;
}

export interface ReadingOptions {
  /** Whether WordPress asks for updates first and examines its health. */
  check: boolean;
  log: Logger;
  /** Where WordPress asks for updates. */
  updateSource?: string;
  signal?: AbortSignal | undefined;
}

const MOST_OUTPUT = 4 * 1024 * 1024;
/** Three requests of at most ten seconds, and the tests of Site Health. */
const CHECK_MS = MINUTE_MS;
const READ_MS = MINUTE_MS;
const UPDATE_SOURCE = 'https://api.wordpress.org';

/** Reads the WordPress of an install (docs/decisions/wordpress.md). See `WordPressReader.readWordPress`. */
export async function readWebsite(
  { id, runtime, version }: ReadWebsite,
  { check: isWanted, log, updateSource = UPDATE_SOURCE, signal }: ReadingOptions,
): Promise<WordPressReading | WordPressUnread> {
  const run = async (what: Omit<ScriptRun, 'mostOutput'>): Promise<ScriptEnd> => {
    const ended = await runtime.runScript({ ...what, mostOutput: MOST_OUTPUT }, signal);
    if (ended.exit !== 0) {
      log.debug(
        { install: id, exit: ended.exit, stderr: ended.stderr },
        `${what.script} failed on a website`,
      );
    }
    return ended;
  };

  /** With the website's plugins, else without them. Null if WordPress runs neither way. */
  async function check(isAsked: boolean): Promise<PrintedCheck | null> {
    for (const mode of isAsked ? ['whole', 'plain'] : ['whole']) {
      const args = [mode, isAsked ? '1' : '0', updateSource];
      const { exit, stdout } = await run({ script: 'check-website.php', args, timeoutMs: CHECK_MS });
      const printed = exit === 0 ? parseCheck(stdout) : null;
      if (printed !== null) return printed;
    }
    return null;
  }

  /** With the website's drop-ins for caching, else without them. A string: why WordPress does not start. */
  async function read(): Promise<PrintedWebsite | string> {
    let said = '';
    for (const HOMEPORT_BARE of ['0', '1']) {
      const args = [MOST_PLUGINS, MOST_THEMES, MOST_ADMINISTRATORS].map(String);
      const environment = { HOMEPORT_BARE };
      const { exit, stdout, stderr } = await run({
        script: 'read-website.php',
        args,
        environment,
        timeoutMs: READ_MS,
      });
      const printed = exit === 0 ? parseWebsite(stdout) : null;
      if (printed !== null) return printed;
      // WordPress shows its own errors as a page, and ends without a fault.
      said = exit === 0 ? stdout : stderr || stdout;
    }
    return said;
  }

  const mark = await wordpressMark(runtime, version);
  let isAsked = isWanted;
  let checked = await check(isAsked);
  let website = await read();
  if (!isAsked && typeof website !== 'string' && !Object.values(website.updatesKnown).every(Boolean)) {
    // A new website has never asked, and an emptied object cache forgets the answers.
    isAsked = true;
    checked = await check(isAsked);
    website = await read();
  }
  if (typeof website === 'string') return { refused: 'website', reason: doesNotStart(website), mark };
  return readingOf(website, checked, { isAsked, mark });
}
