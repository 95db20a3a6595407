import type { Logger } from 'pino';
import type { Host } from '../../hosting/contract/host.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import { failureSentence } from '../../hosting/wordpress/failure-sentence.ts';
import { SECOND_MS } from '../../lib/durations.ts';
import { parseEntries } from '../websites/logs/entries.ts';
import type { Fault, IncidentCause } from './judgement.ts';

/** Causes that PHP may have explained in its log. */
const OF_PHP: readonly IncidentCause[] = ['status', 'wordpress', 'php', 'timeout'];
/** Logs read in a round: an outage of a whole host has one reason, not hundreds. */
const MOST_READ = 20;
const READ_MS = 5 * SECOND_MS;
const ENTRIES = 20;

interface Round {
  at: Date;
  gapMs: number;
  signal: AbortSignal;
  log: Logger;
}

/** Finds what PHP wrote to the log of a website around a failed check: message, file and line. */
export function createErrorFinder({ readLog }: Pick<Host, 'readLog'>, { at, gapMs, signal, log }: Round) {
  let left = MOST_READ;
  return async ({ id, name }: InstallRef, { cause }: Fault): Promise<string | null> => {
    if (!OF_PHP.includes(cause) || left-- <= 0) return null;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
    const from = new Date(at.getTime() - gapMs).toISOString();
    try {
      const page = await readLog(
        { id, name },
        {
          ...{ kind: 'php', from, to: null, search: null, status: null },
          ...{ cursor: null, direction: 'older', limit: ENTRIES },
        },
        limit,
      );
      if ('refused' in page) return null;
      const entries = parseEntries('php', page.lines).filter(({ level }) => level === 'error');
      const oldest = entries.at(-1);
      return oldest === undefined ? null : failureSentence(oldest.message);
    } catch (err) {
      signal.throwIfAborted();
      log.info({ err, install: id }, 'could not read the PHP errors of a website that is down');
      return null;
    }
  };
}
