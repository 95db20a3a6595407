/** What the configuration of the database server depends on. Sizes in bytes. */
export interface MariadbMachine {
  folder: string;
  socket: string;
  /** Unix user that it runs as. */
  user: string;
  /** Memory of the machine. */
  memory: number;
}

const MIB = 1024 * 1024;

/** The configuration of MariaDB for many small databases whose users do not trust each other. */
export function mariadbConfig({ folder, socket, user, memory }: MariadbMachine): string {
  const pool = Math.round(Math.min(Math.max(memory / 8 / MIB, 128), 8192));
  const settings: Record<string, string | number> = {
    user,
    datadir: folder,
    socket,
    'pid-file': `${folder}/mariadb.pid`,
    'log-basename': 'mariadb',
    // Reached by its socket alone, and by nobody whom the kernel does not vouch for.
    'skip-networking': 1,
    'skip-name-resolve': 1,
    'skip-log-bin': 1,
    'local-infile': 0,
    'symbolic-links': 0,
    'secure-file-priv': folder,
    'performance-schema': 0,
    // A connection that ends without a good-bye is no news: every look whether it answers is one.
    'log-warnings': 1,
    'lock-wait-timeout': 300,
    'character-set-server': 'utf8mb4',
    'collation-server': 'utf8mb4_unicode_520_ci',
    // Snapshots are consistent for InnoDB alone. Without NO_ENGINE_SUBSTITUTION a plugin that asks for MyISAM gets InnoDB.
    'enforce-storage-engine': 'InnoDB',
    'sql-mode': 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO',
    'max-connections': 1000,
    'max-allowed-packet': '64M',
    'table-open-cache': 4000,
    'table-definition-cache': 4000,
    'tmp-table-size': '16M',
    'max-heap-table-size': '16M',
    'innodb-buffer-pool-size': `${pool}M`,
    'innodb-log-file-size': '96M',
    'innodb-flush-method': 'O_DIRECT',
    'innodb-open-files': 2000,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `# Written by homeport host; changes are overwritten.\n[mariadbd]\n${lines.join('\n')}\n`;
}
