import { LEAST_PHP, MOST_PHP, type PhpLimit } from '../../lib/php-limits.ts';
import { setting } from './setting.ts';
import { ConfigError, type ValueParser, wholeNumber } from './setting-values.ts';

/** `default-most`, both within what PHP can have. */
const standardAndMost =
  (limit: PhpLimit): ValueParser<{ standard: number; most: number }> =>
  (text, variable) => {
    const [, standard, most] = /^(\d{1,7})-(\d{1,7})$/.exec(text)?.map(Number) ?? [];
    const [least, highest] = [LEAST_PHP[limit], MOST_PHP[limit]];
    if (
      standard === undefined ||
      most === undefined ||
      standard < least ||
      most > highest ||
      standard > most
    ) {
      throw new ConfigError(
        `${variable} must be a default and a maximum, like ${least}-${highest}, from ${least} to ${highest}; it is "${text}".`,
      );
    }
    return { standard, most };
  };

/** Limits of PHP: the defaults, and how far users may change them. */
export const PHP_SETTINGS = {
  phpMemoryMb: setting(
    'HOMEPORT_PHP_MEMORY_MB',
    '256-512',
    '`memory_limit` of PHP in MiB, default and maximum; never more than `HOMEPORT_INSTALL_MEMORY_MB` on a Linux host, and than what fits into `HOMEPORT_EMBEDDED_PHP_MB` on the embedded host',
    standardAndMost('memoryMb'),
  ),
  phpUploadMb: setting(
    'HOMEPORT_PHP_UPLOAD_MB',
    '64-1024',
    '`upload_max_filesize` of PHP in MiB, default and maximum; 256 at most on the embedded host',
    standardAndMost('uploadMb'),
  ),
  phpSeconds: setting(
    'HOMEPORT_PHP_SECONDS',
    '120-300',
    '`max_execution_time` of PHP in seconds, default and maximum; the default of the embedded host, which counts the whole request, is 60 at most',
    standardAndMost('seconds'),
  ),
  phpWorkers: setting(
    'HOMEPORT_PHP_WORKERS',
    '16',
    'most requests of an install at once; its memory, and on a Linux host its processes, may allow fewer',
    wholeNumber(LEAST_PHP.workers, MOST_PHP.workers),
  ),
  phpInputVars: setting(
    'HOMEPORT_PHP_INPUT_VARS',
    '5000-20000',
    '`max_input_vars` of PHP, default and maximum',
    standardAndMost('inputVars'),
  ),
};
