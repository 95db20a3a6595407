import type { PhpLimits } from '../../../lib/php-limits.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallState } from '../../contract/install-state.ts';
import type { ChangeableWebsite } from '../../websites/changes/changeable-website.ts';
import { observe } from '../../websites/probe/observation.ts';
import { findFault } from '../../websites/probe/website-check.ts';

interface LimitsChange<Result> {
  name: string;
  /** Runs work while PHP has the new limits. */
  withLimits(work: () => Promise<Result>): Promise<Result>;
  /** Makes them last. */
  keep(): Promise<Result>;
  signal: AbortSignal | undefined;
}

/** Gives a website's PHP other limits if the website is as good with them. Throws PermanentHostError if not, and it keeps the former ones. */
export async function tryPhpLimits<Result>(
  website: Pick<ChangeableWebsite, 'lookAt' | 'resetCaches'>,
  { name, withLimits, keep, signal }: LimitsChange<Result>,
): Promise<Result> {
  const before = await observe(await website.lookAt(signal));
  try {
    return await withLimits(async () => {
      await website.resetCaches();
      const fault = await findFault(await website.lookAt(signal), before);
      if (fault !== null) {
        throw new PermanentHostError(`${name} keeps its limits of PHP, because with the new ones ${fault}`);
      }
      return keep();
    });
  } catch (error) {
    await website.resetCaches();
    throw error;
  }
}

/** The limits of PHP that the install's users have set; without any, nothing. */
export function phpOf({ php }: Pick<InstallState, 'php'>): { php?: PhpLimits } {
  return php && Object.values(php).some((limit) => limit !== null) ? { php } : {};
}
