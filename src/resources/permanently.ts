import { PermanentHostError } from '../hosting/host.ts';
import { PermanentFailure } from '../jobs/job.ts';

/** What a host says will not mend itself is not tried again; its sentence was written to be shown. */
export async function permanently<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PermanentHostError) throw new PermanentFailure(error.message, { cause: error });
    throw error;
  }
}
