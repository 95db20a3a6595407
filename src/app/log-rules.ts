import type { Config } from '../config/config.ts';
import type { LogRules } from '../hosting/websites/logs/upkeep.ts';
import { HOUR_MS } from '../lib/durations.ts';

const MIB = 1024 ** 2;
/** Part of its disk quota that the logs of an install may take besides it. */
const QUOTA_SHARE = 0.1;

/** The rules by which hosts keep the logs of an install. */
export function logRulesOf({
  logDays,
  logAddressHours,
  installLogMb,
  installDiskGb,
}: Pick<Config, 'logDays' | 'logAddressHours' | 'installLogMb' | 'installDiskGb'>): LogRules {
  const most = installLogMb * MIB;
  return {
    days: logDays,
    wholeAddressMs: logAddressHours === null ? null : logAddressHours * HOUR_MS,
    mostBytes: installDiskGb === 0 ? most : Math.min(most, installDiskGb * 1024 * MIB * QUOTA_SHARE),
  };
}
