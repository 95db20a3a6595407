import { optional, setting } from './setting.ts';
import { listenAddress, oneOf, path, url, wholeNumber } from './setting-values.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Storage, workers, log and metrics of a control plane process. */
export const PROCESS_SETTINGS = {
  dataDir: setting(
    'HOMEPORT_DATA_DIR',
    './data',
    'folder of the default database, keys, and of the embedded host’s sites and emails',
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
    '`sealing.key` in the data folder, created at first start',
    'file with the key (32 bytes, base64) that encrypts private keys',
    path,
  ),
  workers: setting(
    'HOMEPORT_WORKERS',
    '8',
    'jobs that a process runs in parallel: a third for long ones (backups, restores), the rest for short ones; a single account never uses all of either',
    wholeNumber(1, 64),
  ),
  logLevel: optional(
    'HOMEPORT_LOG_LEVEL',
    'info; warn on a terminal',
    LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    oneOf(LOG_LEVELS),
  ),
  command: optional(
    'HOMEPORT_COMMAND',
    'how this installation is started',
    'how people run Homeport’s commands here, for the commands in its messages, such as `docker compose exec homeport homeport`; only from the environment',
    (text) => text,
  ),
  metricsListen: optional(
    'HOMEPORT_METRICS_LISTEN',
    'none: no metrics',
    'address of Prometheus metrics at `/metrics`, plain HTTP; must not be publicly reachable',
    listenAddress,
  ),
};
