/** Facts about the machine that the server's configuration depends on. Sizes in bytes. */
export interface MariadbMachine {
  folder: string;
  /** Folder for temporary tables. Its own, so that websites cannot fill the machine's `/tmp`. */
  temporary: string;
  socket: string;
  /** Unix user of the server. */
  user: string;
  /** Memory of the machine. */
  memory: number;
}

const MIB = 1024 * 1024;

/**
 * Limits of a session, which it cannot raise. The largest statement needs five times its size (measured): as received, parsed
 * and written.
 */
const SESSION_LIMITS: Record<string, string> = {
  'max-session-mem-used': '160M',
  'tmp-table-size': '16M',
  'tmp-memory-table-size': '16M',
  'max-heap-table-size': '16M',
  'sort-buffer-size': '2M',
  'join-buffer-size': '256K',
  'join-buffer-space-limit': '2M',
  'read-buffer-size': '128K',
  'read-rnd-buffer-size': '256K',
  'mrr-buffer-size': '256K',
  'bulk-insert-buffer-size': '8M',
  'group-concat-max-len': '1M',
};

/** Where the server writes the number of its process. */
export const pidFileIn = (folder: string): string => `${folder}/mariadb.pid`;

/** The configuration of MariaDB for many small databases whose users do not trust each other. */
export function mariadbConfig({ folder, temporary, socket, user, memory }: MariadbMachine): string {
  const pool = Math.round(Math.min(Math.max(memory / 8 / MIB, 128), 8192));
  const settings: Record<string, string | number> = {
    user,
    datadir: folder,
    tmpdir: temporary,
    socket,
    'pid-file': pidFileIn(folder),
    'log-basename': 'mariadb',
    // Reachable only by its socket, and only for users that the kernel vouches for.
    'skip-networking': 1,
    'skip-name-resolve': 1,
    'skip-log-bin': 1,
    'local-infile': 0,
    'symbolic-links': 0,
    'secure-file-priv': folder,
    'performance-schema': 0,
    // Aborted connections are not worth a log line: every health check is one.
    'log-warnings': 1,
    'lock-wait-timeout': 300,
    'character-set-server': 'utf8mb4',
    'collation-server': 'utf8mb4_unicode_520_ci',
    // Only InnoDB has consistent snapshots. Without NO_ENGINE_SUBSTITUTION, a plugin that asks for MyISAM gets InnoDB.
    'enforce-storage-engine': 'InnoDB',
    'sql-mode': 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO',
    'max-connections': 1000,
    'max-allowed-packet': '32M',
    'table-open-cache': 4000,
    'table-definition-cache': 4000,
    'innodb-buffer-pool-size': `${pool}M`,
    'innodb-log-file-size': '96M',
    'innodb-flush-method': 'O_DIRECT',
    'innodb-open-files': 2000,
  };
  for (const [name, limit] of Object.entries(SESSION_LIMITS)) {
    settings[name] = limit;
    settings[`maximum-${name}`] = limit;
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `# Written by homeport host; changes are overwritten.\n[mariadbd]\n${lines.join('\n')}\n`;
}
