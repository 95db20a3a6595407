import { optional, setting } from './setting.ts';
import { listenAddress, oneOf, path, url, wholeNumber } from './setting-values.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** What one process of the control plane works with. */
export const PROCESS_SETTINGS = {
  dataDir: setting(
    'HOMEPORT_DATA_DIR',
    './data',
    'database, keys, sites and mails of the embedded default',
    path,
  ),
  databaseUrl: optional(
    'HOMEPORT_DATABASE_URL',
    'none: SQLite in the data folder',
    '`postgres://user:password@host:5432/name`',
    url(['postgres:', 'postgresql:']),
  ),
  sealingKey: optional(
    'HOMEPORT_SEALING_KEY_FILE',
    '`sealing.key` in the data folder, made at first start',
    'file with the key (32 bytes, base64) that private keys are encrypted with',
    path,
  ),
  workers: setting(
    'HOMEPORT_WORKERS',
    '8',
    'jobs that one process runs at the same time: a third are long ones (backups, restores), the others short; one account never uses all of either',
    wholeNumber(1, 64),
  ),
  logLevel: setting(
    'HOMEPORT_LOG_LEVEL',
    'info',
    LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    oneOf(LOG_LEVELS),
  ),
  metricsListen: optional(
    'HOMEPORT_METRICS_LISTEN',
    'none: no metrics',
    'metrics for Prometheus at `/metrics`, plain HTTP; an address that the world cannot reach',
    listenAddress,
  ),
};
