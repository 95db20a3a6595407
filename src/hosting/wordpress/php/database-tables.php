<?php
/**
 * Reads and replaces single tables of a SQLite database, beside which `restored.sqlite` is that of a backup. No code of the website runs.
 * Arguments: `list` (tables of the database), `survey` (tables and foreign keys of both), or `replace` (the tables that standard input
 * names, as JSON; those that the backup lacks are dropped). Prints JSON: the result, or `refused` with a reason.
 */
require __DIR__ . '/sqlite-driver.php';

const RESTORED = DB_DIR . '/restored.sqlite';
/** Names of tables that belong to SQLite or to the driver of WordPress. */
const RESERVED = '/^(?:sqlite_|_wp_sqlite_|_mysql_data_types_cache$)/i';
/** What the driver knows about tables as MySQL has them. */
const KNOWLEDGE = '_wp_sqlite_mysql_information_schema_';

try {
    $mode = $argv[1];
    // The driver adds what it needs to a database of an earlier version.
    if ($mode !== 'list') {
        homeport_sqlite_driver(RESTORED);
    }
    $database = homeport_sqlite_driver()->get_connection()->get_pdo();
    if ($mode === 'list') {
        $rows = static fn(string $name): int => (int) $database->query('SELECT count(*) FROM main.' . quoted($name))->fetchColumn();
        $result = array_map(static fn(string $name): array => ['name' => $name, 'rows' => $rows($name)], tables_in('main'));
    } else {
        $database->exec('ATTACH DATABASE ' . $database->quote(RESTORED) . ' AS restored');
        $result = $mode === 'survey'
            ? ['from' => described('restored'), 'to' => described('main')]
            : replace_tables(json_decode(stream_get_contents(STDIN), true, 2, JSON_THROW_ON_ERROR));
    }
    echo json_encode(['result' => $result], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE), "\n";
} catch (Throwable $error) {
    $reason = preg_replace('/[\x00-\x1f\x7f]+/', ' ', mb_strcut(mb_scrub($error->getMessage()), 0, 300));
    echo json_encode(['refused' => $reason], JSON_UNESCAPED_UNICODE), "\n";
}

/** Values of the first column. */
function column(string $sql, array $values = []): array
{
    global $database;
    $found = $database->prepare($sql);
    $found->execute($values);
    return $found->fetchAll(PDO::FETCH_COLUMN);
}

function run(string $sql, array $values = []): void
{
    global $database;
    // Only the first statement of a text is run.
    $database->prepare($sql)->execute($values);
}

function quoted(string $name): string
{
    return '"' . str_replace('"', '""', $name) . '"';
}

/** @return string[] */
function tables_in(string $schema): array
{
    $names = column("SELECT name FROM $schema.sqlite_master WHERE type = 'table' ORDER BY name");
    return array_values(array_filter($names, static fn(string $name): bool => preg_match(RESERVED, $name) !== 1));
}

function described(string $schema): array
{
    $keys = [];
    foreach (tables_in($schema) as $table) {
        foreach (column('SELECT DISTINCT "table" FROM pragma_foreign_key_list(?, ?)', [$table, $schema]) as $referenced) {
            $keys[] = [$table, $referenced];
        }
    }
    return ['tables' => tables_in($schema), 'keys' => $keys];
}

/** All or nothing. */
function replace_tables(array $tables): int
{
    global $database;
    run('PRAGMA main.foreign_keys = OFF');
    $database->beginTransaction();
    $restored = tables_in('restored');
    foreach ($tables as $table) {
        if (preg_match(RESERVED, $table) === 1) {
            throw new RuntimeException("The table \"$table\" belongs to the database itself.");
        }
        run('DROP TABLE IF EXISTS main.' . quoted($table));
        copy_knowledge($table);
        if (in_array($table, $restored, true)) {
            copy_table($table);
        }
    }
    $database->commit();
    return count($tables);
}

function copy_table(string $table): void
{
    [$definition] = column("SELECT sql FROM restored.sqlite_master WHERE type = 'table' AND name = ?", [$table]);
    run($definition);
    // Without generated columns.
    $columns = implode(', ', array_map('quoted', column("SELECT name FROM pragma_table_xinfo(?, 'restored') WHERE hidden = 0", [$table])));
    $name = quoted($table);
    run("INSERT INTO main.$name ($columns) SELECT $columns FROM restored.$name");
    if (column("SELECT 1 FROM restored.sqlite_master WHERE name = 'sqlite_sequence'") !== []) {
        run('UPDATE main.sqlite_sequence SET seq = coalesce((SELECT seq FROM restored.sqlite_sequence WHERE name = ?1), seq) WHERE name = ?1', [$table]);
    }
    $others = "SELECT sql FROM restored.sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type";
    foreach (column($others, [$table]) as $definition) {
        run($definition);
    }
}

/** Replaces what the driver knows about a table by what it knew in the backup. */
function copy_knowledge(string $table): void
{
    $checks = KNOWLEDGE . 'check_constraints';
    $constraints = KNOWLEDGE . 'table_constraints';
    $isOfTable = static fn(string $schema): string => "CONSTRAINT_NAME IN (SELECT CONSTRAINT_NAME FROM $schema.$constraints WHERE CONSTRAINT_TYPE = 'CHECK' AND TABLE_NAME = ?)";
    copy_rows($checks, $isOfTable, $table);
    $others = column("SELECT name FROM main.sqlite_master WHERE type = 'table' AND substr(name, 1, length(?1)) = ?1 AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_master.name, 'main') WHERE lower(name) = 'table_name')", [KNOWLEDGE]);
    foreach ($others as $other) {
        copy_rows($other, static fn(string $schema): string => 'TABLE_NAME = ?', $table);
    }
}

function copy_rows(string $name, callable $where, string $table): void
{
    run("DELETE FROM main.$name WHERE " . $where('main'), [$table]);
    $columns = implode(', ', column("SELECT name FROM pragma_table_info(?, 'main') INTERSECT SELECT name FROM pragma_table_info(?, 'restored')", [$name, $name]));
    run("INSERT INTO main.$name ($columns) SELECT $columns FROM restored.$name WHERE " . $where('restored'), [$table]);
}
