<?php
/**
 * Replaces host names, ports and schemes in the URLs of the whole database, including serialised values, whose lengths it adjusts.
 * Changes everything or, if it fails, nothing.
 * Arguments: the new scheme (`http`, `https`, or `keep` with the ports of both, as in `keep:8080,8443` and `keep:,`), the new host, then
 * the old ones, which can include the new one. Hosts have a port if their URLs have one.
 * Prints the number of changed rows of each table, and that it has completed. With HOMEPORT_BARE=1 in the environment it loads no PHP of the website.
 */
const SHORTINIT = true;
require __DIR__ . '/without-content.php';
require __DIR__ . '/load.php';
require __DIR__ . '/database-error.php';
require __DIR__ . '/replace-text.php';

[$scheme, $ports] = explode(':', $argv[1]) + [1 => ','];
$to = ['scheme' => $scheme, 'host' => $argv[2], 'ports' => array_combine(['http', 'https'], explode(',', $ports))];
$from = array_slice($argv, 3);
$changed = [];
// All or nothing. A process that ends early takes nothing over.
change('START TRANSACTION');
foreach (rows_of("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'") as $row) {
    $table = reset($row);
    $count = replace_in_table($table, $from, $to);
    if ($count > 0) {
        $changed[$table] = $count;
    }
}
change('COMMIT');
wp_cache_flush();
echo json_encode((object) $changed), "\n";
echo "\n", '{"completed":true}', "\n";

/** Returns the number of changed rows. */
function replace_in_table(string $table, array $from, array $to): int
{
    $key = [];
    $texts = [];
    foreach (rows_of('SHOW COLUMNS FROM ' . quoted($table)) as $column) {
        if ($column['Key'] === 'PRI') {
            $key[] = $column['Field'];
        } elseif (preg_match('/char|text|json/i', $column['Type']) && $column['Field'] !== 'guid') {
            // WordPress forbids changing a guid: it identifies a post for feed readers, and is not an address.
            $texts[] = $column['Field'];
        }
    }
    if ($texts === []) {
        return 0;
    }
    return $key === []
        ? replace_without_key($table, $texts, $from, $to)
        : replace_along_key($table, $key, $texts, $from, $to);
}

/** Reads rows in batches along the primary key, so that a large table fits into memory. */
function replace_along_key(string $table, array $key, array $texts, array $from, array $to): int
{
    $found = implode(' OR ', array_map(static fn($column) => has_host($column, $from), $texts));
    $order = implode(', ', array_map('quoted', $key));
    $select = implode(', ', array_map('quoted', array_merge($key, $texts)));
    $changed = 0;
    $after = '';
    do {
        $rows = rows_of("SELECT $select FROM " . quoted($table) . " WHERE ($found)$after ORDER BY $order LIMIT 200");
        foreach ($rows as $row) {
            $new = [];
            foreach ($texts as $column) {
                $value = $row[$column] === null ? null : replace_in_value($row[$column], $from, $to);
                if ($value !== $row[$column]) {
                    $new[$column] = $value;
                }
            }
            if ($new !== []) {
                $these = array_intersect_key($row, array_flip($key));
                change('UPDATE ' . quoted($table) . ' SET ' . equal($new, ', ') . ' WHERE ' . equal($these, ' AND '));
                $changed++;
            }
            $tuple = implode(', ', array_map(static fn($column) => literal($row[$column]), $key));
            $after = " AND ($order) > ($tuple)";
        }
    } while (count($rows) === 200);
    return $changed;
}

/** Without a key, rows cannot be told apart: equal values are changed together. */
function replace_without_key(string $table, array $texts, array $from, array $to): int
{
    $changed = 0;
    foreach ($texts as $column) {
        $name = quoted($column);
        $rows = rows_of("SELECT DISTINCT BINARY $name AS value FROM " . quoted($table) . ' WHERE ' . has_host($column, $from));
        foreach ($rows as ['value' => $old]) {
            $new = replace_in_value($old, $from, $to);
            if ($new !== $old) {
                $set = 'UPDATE ' . quoted($table) . " SET $name = " . literal($new);
                $changed += change("$set WHERE BINARY $name = " . literal($old));
            }
        }
    }
    return $changed;
}

function has_host(string $column, array $from): string
{
    $hosts = hosts_of($from);
    $likes = array_map(
        static fn($text) => quoted($column) . ' LIKE ' . literal('%' . addcslashes($text, '%_\\') . '%'),
        [...$hosts, ...array_merge(...array_map('base64_of', $hosts))],
    );
    return implode(' OR ', $likes);
}

function equal(array $values, string $between): string
{
    $parts = [];
    foreach ($values as $column => $value) {
        $parts[] = quoted($column) . ' = ' . literal($value);
    }
    return implode($between, $parts);
}

function quoted(string $name): string
{
    return '`' . str_replace('`', '``', $name) . '`';
}

function literal(string $value): string
{
    global $wpdb;
    return "'" . (is_mysql() ? mysqli_real_escape_string($wpdb->dbh, $value) : $wpdb->_real_escape($value)) . "'";
}

/** Whether the database is MySQL. Otherwise WordPress' own class translates the statements. */
function is_mysql(): bool
{
    global $wpdb;
    return $wpdb->dbh instanceof mysqli;
}

function rows_of(string $sql): array
{
    global $wpdb;
    if (!is_mysql()) {
        $rows = $wpdb->get_results($sql, ARRAY_A);
        return $wpdb->last_error === '' && is_array($rows) ? $rows : give_up($sql);
    }
    $result = mysqli_query($wpdb->dbh, $sql);
    return $result === false ? give_up($sql) : mysqli_fetch_all($result, MYSQLI_ASSOC);
}

/** Returns the number of changed rows. */
function change(string $sql): int
{
    global $wpdb;
    if (!is_mysql()) {
        $changed = $wpdb->query($sql);
        return $changed === false ? give_up($sql) : (int) $changed;
    }
    return mysqli_query($wpdb->dbh, $sql) === false ? give_up($sql) : mysqli_affected_rows($wpdb->dbh);
}

function give_up(string $sql): never
{
    global $wpdb;
    $why = is_mysql() ? mysqli_error($wpdb->dbh) : homeport_database_error();
    // Without the values.
    fwrite(STDERR, $why . ' in: ' . substr(preg_replace('/ (?:SET|WHERE) .*/s', '', $sql), 0, 200) . "\n");
    exit(1);
}
