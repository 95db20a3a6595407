import { PermanentHostError } from '../../hosting/contract/host.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { PermanentFailure, Postponed } from '../../jobs/job.ts';

/** What a host's failures are to the job that asked it. */

/** What a host says will not mend itself is not tried again; its sentence was written to be shown. */
export async function permanently<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PermanentHostError) throw new PermanentFailure(error.message, { cause: error });
    throw error;
  }
}

/** While a host is away, what it is to do waits for it. Which host, and why, is the operator's affair. */
export async function postponing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HostUnreachableError)) throw error;
    throw new Postponed('The machine that the website is on does not answer.', { cause: error });
  }
}
