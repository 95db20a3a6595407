import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import type { WebsiteScripts } from './website-scripts.ts';
import type { WebsiteState } from './website-state.ts';

const WITHIN_MS = 20 * SECOND_MS;
const CRON_MS = 5 * MINUTE_MS;

/** Runs due tasks, and returns the fatal error of PHP; null without one. Tasks that take longer are not broken off. */
export async function cronFault(site: WebsiteScripts, signal: AbortSignal): Promise<string | null> {
  const waiting = new AbortController();
  const late = sleep(WITHIN_MS, null, { signal: AbortSignal.any([signal, waiting.signal]) }).catch(
    () => null,
  );
  const run = site.runScript('probe-cron.php', [], { timeoutMs: CRON_MS });
  // A stop of the host may end it after this has returned.
  run.catch(() => {});
  const ran = await Promise.race([run, late]).finally(() => waiting.abort());
  return ran !== null && 'fatal' in ran ? ran.fatal : null;
}

/**
 * Adds a comment to the newest post, as a visitor does, and takes it back in the same transaction. Returns the fatal error of PHP; null
 * without one, without a post, or if the tables have no transactions.
 */
export async function newCommentFault(
  site: WebsiteScripts,
  state: Pick<WebsiteState, 'post'> | null,
): Promise<string | null> {
  if (!state?.post) return null;
  const options = { timeoutMs: WITHIN_MS, network: false };
  const ran = await site.runScript('probe-comment.php', [String(state.post)], options);
  return 'fatal' in ran ? ran.fatal : null;
}
