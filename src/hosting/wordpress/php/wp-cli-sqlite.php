<?php
/**
 * Makes `wp db` work on a host whose databases are SQLite. WP-CLI loads it with --require. Its own commands start programs of MySQL; these here
 * take the same options where they mean something, and refuse the others with a sentence. Export and import are those of the command for
 * SQLite (HOMEPORT_SQLITE_COMMAND).
 */
if (!class_exists('WP_CLI') || !defined('HOMEPORT') || (HOMEPORT['engine'] ?? 'mysql') !== 'sqlite') {
    return;
}
require_once __DIR__ . '/sqlite-driver.php';

WP_CLI::add_hook('after_add_command:db', static function (): void {
    $path = ['db'];
    $group = WP_CLI::get_root_command()->find_subcommand($path);
    $database = new Homeport_Sqlite_Command();
    foreach (get_class_methods($database) as $name) {
        $path = [$name];
        $former = $group->find_subcommand($path);
        WP_CLI::add_command("db $name", [$database, $name], [
            'shortdesc' => $former->get_shortdesc(),
            'longdesc' => $former->get_longdesc(),
            'synopsis' => $former->get_synopsis(),
            'when' => $name === 'clean' ? 'after_wp_load' : 'after_wp_config_load',
        ]);
    }
});

// `wp db size` asks for what only MySQL knows.
WP_CLI::add_wp_hook('query', static function ($query) {
    $pattern = '/^SELECT SUM\(data_length \+ index_length\) FROM information_schema\.TABLES where table_schema = \S+(?: and Table_Name = \'(\w+)\')?/';
    return preg_match($pattern, $query, $found) === 1 ? 'SELECT ' . homeport_sqlite_size($found[1] ?? null) : $query;
});

/** 128 MiB, a quarter of what a thread of PHP may have. */
const HOMEPORT_SQLITE_CHANGED_PAGES = 32_768;

/** The commands of `wp db` that differ. */
final class Homeport_Sqlite_Command
{
    /**
     * @alias dump
     */
    public function export($args, $options): void
    {
        homeport_sqlite_options('export', $options, ['tables', 'exclude_tables', 'porcelain']);
        $file = $args[0] ?? sprintf('%s-%s-%s.sql', DB_NAME, date('Y-m-d'), bin2hex(random_bytes(4)));
        if ($file === '-' && isset($options['porcelain'])) {
            WP_CLI::error('Porcelain is not allowed when output mode is STDOUT.');
        }
        // The copy is of one moment, and keeps no visitor waiting.
        $copy = tempnam(sys_get_temp_dir(), 'php');
        try {
            homeport_sqlite_driver()->execute_sqlite_query('VACUUM INTO ' . homeport_sqlite_text($copy));
            homeport_sqlite_export(homeport_sqlite_driver($copy), $file, $options);
        } finally {
            @unlink($copy);
        }
    }

    public function import($args, $options): void
    {
        homeport_sqlite_options('import', $options, ['skip-optimization']);
        $file = $args[0] ?? DB_NAME . '.sql';
        if (!is_file($file) || !is_readable($file)) {
            WP_CLI::error("Import file missing or not readable: $file");
        }
        $driver = homeport_sqlite_driver();
        $driver->query("SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO'");
        $driver->execute_sqlite_query('PRAGMA foreign_keys = OFF');
        // SQLite writes changed pages of the transaction early once its cache is full, and then no visitor and no backup can read.
        $driver->execute_sqlite_query('PRAGMA cache_spill = ' . HOMEPORT_SQLITE_CHANGED_PAGES);
        $count = 0;
        $driver->beginTransaction();
        try {
            foreach (homeport_sqlite_statements($file) as $statement) {
                // All of the file is one transaction.
                if (preg_match('/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK|SET\s+autocommit|(UN)?LOCK\s+TABLES?)\b/i', $statement)) {
                    continue;
                }
                $count++;
                $driver->query($statement);
            }
        } catch (Throwable $error) {
            homeport_sqlite_roll_back($driver);
            $start = mb_substr($statement ?? '', 0, 200);
            WP_CLI::error("Statement $count failed, so nothing was imported: {$error->getMessage()}\n$start");
        }
        if ($count === 0) {
            homeport_sqlite_roll_back($driver);
            WP_CLI::error("There is no SQL in $file.");
        }
        $driver->commit();
        WP_CLI::success("Imported from '$file'.");
    }

    public function query($args, $options): void
    {
        homeport_sqlite_options('query', $options, ['execute', 'skip-column-names']);
        $text = $args[0] ?? $options['execute'] ?? '';
        $driver = homeport_sqlite_driver();
        $changed = null;
        foreach (homeport_sqlite_statements('data:text/plain;base64,' . base64_encode($text)) as $statement) {
            try {
                $result = $driver->query($statement, PDO::FETCH_ASSOC);
            } catch (Throwable $error) {
                WP_CLI::error("Query failed: {$error->getMessage()}");
            }
            if (is_array($result)) {
                homeport_sqlite_print($result, !isset($options['skip-column-names']));
            } elseif (preg_match('/^\s*(UPDATE|DELETE|INSERT|REPLACE)\b/i', $statement)) {
                $changed = (int) $changed + (int) $result;
            }
        }
        if ($changed !== null) {
            WP_CLI::success("Query succeeded. Rows affected: $changed");
        }
    }

    public function reset($args, $options): void
    {
        WP_CLI::confirm("Are you sure you want to reset the '" . DB_NAME . "' database?", $options);
        homeport_sqlite_drop(homeport_sqlite_tables());
        WP_CLI::success('Database reset.');
    }

    public function clean($args, $options): void
    {
        $prefix = $GLOBALS['wpdb']->get_blog_prefix();
        WP_CLI::confirm("Are you sure you want to drop all the tables on '" . DB_NAME
            . "' that use the current site's database prefix ('$prefix')?", $options);
        homeport_sqlite_drop(array_filter(homeport_sqlite_tables(), fn ($table) => str_starts_with($table, $prefix)));
        WP_CLI::success('Tables dropped.');
    }

    public function check($args, $options): void
    {
        homeport_sqlite_check();
        WP_CLI::success('Database checked.');
    }

    public function optimize($args, $options): void
    {
        homeport_sqlite_driver()->execute_sqlite_query('VACUUM');
        WP_CLI::success('Database optimized.');
    }

    public function repair($args, $options): void
    {
        homeport_sqlite_check();
        WP_CLI::success('The database is not damaged, so there is nothing to repair.');
    }

    public function create(): void
    {
        WP_CLI::error('The host has created the database of this website.');
    }

    public function drop(): void
    {
        WP_CLI::error('The database of this website stays with the website. To empty it, use "wp db reset".');
    }

    public function cli(): void
    {
        WP_CLI::error('There is no terminal here. Give the statement to "wp db query".');
    }
}

/** The driver itself rolls back after some errors. */
function homeport_sqlite_roll_back(WP_SQLite_Driver $driver): void
{
    $connection = $driver->get_connection()->get_pdo();
    if ($connection->inTransaction()) {
        $connection->rollBack();
    }
}

function homeport_sqlite_text(string $text): string
{
    return "'" . str_replace("'", "''", $text) . "'";
}

/** Refuses options of MySQL's programs. Those about its connection, its transactions and its versions mean nothing here. */
function homeport_sqlite_options(string $command, array $options, array $known): void
{
    $ignored = ['dbuser', 'dbpass', 'defaults', 'host', 'default-character-set', 'add-drop-table', 'single-transaction', 'quick',
        'include-tablespaces', 'no-tablespaces', 'lock-tables', 'max_allowed_packet', 'column-statistics', 'set-gtid-purged'];
    $others = array_diff(array_keys($options), $known, $ignored);
    if ($others !== []) {
        $list = fn (array $names) => implode(', ', array_map(fn ($name) => "--$name", $names));
        WP_CLI::error("The database of this website is SQLite, so wp db $command has no {$list($others)}. It takes {$list($known)}.");
    }
}

function homeport_sqlite_statements(string $file): Generator
{
    require_once getenv('HOMEPORT_SQLITE_COMMAND') . '/Import.php';
    $reader = new class extends Automattic\WP_CLI\SQLite\Import {
        public function __construct()
        {
        }
    };
    return $reader->parse_statements($file);
}

function homeport_sqlite_tables(): array
{
    return array_map(fn ($row) => current((array) $row), homeport_sqlite_driver()->query('SHOW TABLES'));
}

/** Bytes of the database, or of the values in a table. */
function homeport_sqlite_size(?string $table): int
{
    $driver = homeport_sqlite_driver();
    $number = fn (string $query) => (int) $driver->execute_sqlite_query($query)->fetchColumn();
    if ($table === null) {
        return $number('PRAGMA page_count') * $number('PRAGMA page_size');
    }
    $columns = $driver->execute_sqlite_query("PRAGMA table_info(`$table`)")->fetchAll(PDO::FETCH_COLUMN, 1);
    $lengths = array_map(fn ($column) => "IFNULL(LENGTH(CAST(`$column` AS BLOB)), 0)", $columns);
    return $number('SELECT SUM(' . implode(' + ', $lengths) . ") FROM `$table`");
}

function homeport_sqlite_drop(array $tables): void
{
    $driver = homeport_sqlite_driver();
    $driver->beginTransaction();
    foreach ($tables as $table) {
        $driver->query('DROP TABLE `' . str_replace('`', '``', $table) . '`');
    }
    $driver->commit();
}

function homeport_sqlite_check(): void
{
    $found = homeport_sqlite_driver()->execute_sqlite_query('PRAGMA integrity_check')->fetchAll(PDO::FETCH_COLUMN);
    if ($found !== ['ok']) {
        WP_CLI::error("The database is damaged. Restore a backup.\n" . implode("\n", $found));
    }
}

/** As `mysql` prints a result that goes to a program. */
function homeport_sqlite_print(array $rows, bool $has_names): void
{
    $cell = fn ($value) => $value === null ? 'NULL' : strtr((string) $value, ["\0" => '\0', "\t" => '\t', "\n" => '\n', '\\' => '\\\\']);
    if ($has_names && $rows !== []) {
        array_unshift($rows, array_keys($rows[0]));
    }
    foreach ($rows as $row) {
        WP_CLI::line(implode("\t", array_map($cell, array_values($row))));
    }
}

function homeport_sqlite_export(WP_SQLite_Driver $driver, string $file, array $options): void
{
    require_once getenv('HOMEPORT_SQLITE_COMMAND') . '/Export.php';
    $export = new class ($driver) extends Automattic\WP_CLI\SQLite\Export {
        public function __construct($driver)
        {
            $this->driver = $driver;
        }

        /** The command's own would write the text 007 as the number 7. */
        protected function escape_values(PDO $pdo, $values)
        {
            return implode(',', array_map(fn ($value) => match (true) {
                $value === null => 'NULL',
                is_int($value) => (string) $value,
                is_float($value) => var_export($value, true),
                mb_check_encoding($value, 'UTF-8') => $this->escape_string($value),
                default => "x'" . bin2hex($value) . "'",
            }, $values));
        }

        /** MariaDB does not know the collation that the driver names. */
        protected function get_create_statement($table)
        {
            return str_replace('utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci', parent::get_create_statement($table));
        }

        protected function display_result_message($file)
        {
            if ($this->is_stdout) {
                return;
            }
            // A full disk fails no writing of the command's.
            if (!str_contains((string) file_get_contents($file, false, null, max(0, filesize($file) - 100)), "\n-- Dump completed on ")) {
                unlink($file);
                WP_CLI::error("'$file' could not be written whole, so it was removed.");
            }
            if (isset($this->args['porcelain'])) {
                WP_CLI::line($file);
            } else {
                WP_CLI::success("Exported to '$file'.");
            }
        }
    };
    $export->run($file, $options);
}
