import type { MeasuredQuotas } from '../isolation/measured-quotas.ts';
import type { InstallRecord } from '../machine/record.ts';
import type { LinuxHostParts } from '../websites/linux-host-parts.ts';
import type { WebsiteSteps } from '../websites/provisioning.ts';
import type { StartRetries } from '../websites/start-retries.ts';
import type { WebsiteLifecycle } from '../websites/website-lifecycle.ts';

/** The parts of the host that inspections use. */
export interface InspectedHost
  extends LinuxHostParts,
    Pick<WebsiteLifecycle, 'websiteOf' | 'bringUp' | 'undo' | 'settle'> {
  steps: WebsiteSteps;
  startRetries: StartRetries;
  measuredQuotas: Pick<MeasuredQuotas, 'isFull'>;
  /** Starts the website again until that succeeds, without waiting for it. */
  retryStart(record: InstallRecord): void;
  /** Locks an install while `work` runs. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
}
