import { MINUTE_MS } from '../../../lib/durations.ts';
import { StillFetchingError } from '../../contract/embedded-wordpress.ts';

/** Half the time of the job that creates a website. */
const WAIT_MS = MINUTE_MS;

/**
 * Waits for a WordPress that is being fetched. After `waitMs` it rejects with a {@link StillFetchingError}, and the fetching goes on, for
 * all who ask again.
 */
export async function waitForFetch<Result>(fetching: Promise<Result>, waitMs = WAIT_MS): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StillFetchingError('WordPress is still being downloaded')), waitMs);
  });
  try {
    return await Promise.race([fetching, late]);
  } finally {
    clearTimeout(timer);
  }
}
