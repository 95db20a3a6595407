import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import {
  MOST_ADMINISTRATORS,
  MOST_PLUGINS,
  MOST_THEMES,
  type WordPressReading,
  type WordPressUnread,
} from '../../contract/wordpress.ts';
import { doesNotStart } from '../../wordpress/does-not-start.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runPhp } from './run-php.ts';
import {
  type PrintedCheck,
  type PrintedWebsite,
  parseCheck,
  parseWebsite,
  readingOf,
} from './website-reading.ts';
import { wordpressMark } from './wordpress-mark.ts';

export interface WebsiteReaderOptions {
  layout: LinuxLayout;
  enter(installId: string): readonly string[];
  log: Logger;
  /** Where WordPress asks for updates. */
  updateSource?: string;
}

const MOST_OUTPUT = 4 * 1024 * 1024;
/** Three requests of at most ten seconds, and the tests of Site Health. */
const CHECK_MS = MINUTE_MS;
const READ_MS = MINUTE_MS;
export const UPDATE_SOURCE = 'https://api.wordpress.org';

/** Creates the function that reads the WordPress of an install (docs/decisions/wordpress.md). */
export function createWebsiteReader({
  layout,
  enter,
  log,
  updateSource = UPDATE_SOURCE,
}: WebsiteReaderOptions) {
  interface Run {
    script: string;
    args: readonly string[];
    environment?: Record<string, string>;
    settings?: Record<string, string>;
    timeoutMs: number;
  }

  const run = (install: SandboxedInstall, { script, ...rest }: Run, signal: AbortSignal | undefined) =>
    runPhp(layout, install, {
      ...rest,
      script: phpFileOf(layout.coreOf(install.wordpressVersion), script),
      enter: enter(install.id),
      mostOutput: MOST_OUTPUT,
      signal,
    });

  /** With the website's plugins, else without them. Null if WordPress runs neither way. */
  async function check(
    install: SandboxedInstall,
    isAsked: boolean,
    signal: AbortSignal | undefined,
  ): Promise<PrintedCheck | null> {
    for (const mode of isAsked ? ['whole', 'plain'] : ['whole']) {
      const args = [mode, isAsked ? '1' : '0', updateSource];
      const settings = { display_errors: '0' };
      const output = await run(
        install,
        { script: 'check-website.php', args, settings, timeoutMs: CHECK_MS },
        signal,
      ).catch((err: unknown) => {
        signal?.throwIfAborted();
        log.debug({ err, install: install.id, mode }, 'a website could not be checked for updates');
        return '';
      });
      const printed = parseCheck(output);
      if (printed !== null) return printed;
    }
    return null;
  }

  /** With the website's drop-ins for caching, else without them. A string: why WordPress does not start. */
  async function read(
    install: SandboxedInstall,
    signal: AbortSignal | undefined,
  ): Promise<PrintedWebsite | string> {
    let said = '';
    for (const HOMEPORT_BARE of ['0', '1']) {
      const args = [MOST_PLUGINS, MOST_THEMES, MOST_ADMINISTRATORS].map(String);
      const output = await run(
        install,
        { script: 'read-website.php', args, environment: { HOMEPORT_BARE }, timeoutMs: READ_MS },
        signal,
      ).catch((err: unknown) => {
        signal?.throwIfAborted();
        log.debug({ err, install: install.id }, 'a website could not be read');
        return messageOf(err);
      });
      const printed = parseWebsite(output);
      if (printed !== null) return printed;
      said = output;
    }
    return said;
  }

  return async function readWebsite(
    install: SandboxedInstall,
    options: { check: boolean },
    signal?: AbortSignal,
  ): Promise<WordPressReading | WordPressUnread> {
    const mark = await wordpressMark(layout, install);
    let isAsked = options.check;
    let checked = await check(install, isAsked, signal);
    let website = await read(install, signal);
    if (!isAsked && typeof website !== 'string' && !Object.values(website.updatesKnown).every(Boolean)) {
      // A new website has never asked, and an emptied object cache forgets the answers.
      isAsked = true;
      checked = await check(install, isAsked, signal);
      website = await read(install, signal);
    }
    if (typeof website === 'string') return { refused: 'website', reason: doesNotStart(website), mark };
    return readingOf(website, checked, { isAsked, mark });
  };
}
