import { StillFetchingError } from '../../hosting/contract/embedded-wordpress.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { PermanentFailure, Postponed } from '../../jobs/job.ts';

/** Translates a host's failures for the job that called it. */

/** A permanent host failure is not retried; its sentence is written for users. */
export async function permanently<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PermanentHostError)
      throw new PermanentFailure(error.message, { code: 'host_refused', cause: error });
    throw error;
  }
}

/** While a host is unreachable or downloads WordPress, its jobs wait. Users do not learn which host or why; operators do. */
export async function postponing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StillFetchingError) {
      throw new Postponed('WordPress is still being downloaded.', { cause: error });
    }
    if (!(error instanceof HostUnreachableError)) throw error;
    throw new Postponed('The machine that the website is on does not answer.', {
      code: 'host_unreachable',
      cause: error,
    });
  }
}
