<?php
/**
 * Replaces host names and schemes in the URLs of the whole database, including serialised values, whose lengths it adjusts.
 * Changes everything or, if it fails, nothing.
 * Arguments: the new scheme (`http`, `https`, or `keep`), the new host name, then the old ones, which can include the new one.
 * Prints the number of changed rows of each table, and that it has completed. With HOMEPORT_BARE=1 in the environment it loads no PHP of the website.
 */
const SHORTINIT = true;
require __DIR__ . '/without-content.php';
require (defined('HOMEPORT') ? HOMEPORT['root'] : dirname(__DIR__)) . '/wp-load.php';
require __DIR__ . '/database-error.php';

$to = ['scheme' => $argv[1], 'host' => $argv[2]];
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
    $likes = array_map(
        static fn($host) => quoted($column) . ' LIKE ' . literal('%' . addcslashes($host, '%_\\') . '%'),
        $from,
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

/** Replaces the host name in the URLs of a text or a serialised value. */
function replace_in_value(string $value, array $from, array $to): string
{
    // WordPress accepts white space around a serialised value.
    $start = strlen($value) - strlen(ltrim($value));
    $at = $start;
    $rewritten = rewrite_serialised($value, $at, $from, $to);
    return $rewritten !== null && trim(substr($value, $at)) === ''
        ? substr($value, 0, $start) . $rewritten . substr($value, $at)
        : replace_in_text($value, $from, $to);
}

/**
 * Finds URLs in text, in JSON (`:\/\/`), in JSON within JSON (`:\\\/\\\/`) and in queries (`%3A%2F%2F`). The name must end there:
 * neither `example.com.evil.net` nor `example.community` matches `example.com`. A URL with a port keeps its scheme, to which the
 * port belongs. A letter before the scheme can be the end of `\n` or `%3D`.
 */
function replace_in_text(string $text, array $from, array $to): string
{
    if ($from === []) {
        return $text;
    }
    $names = implode('|', array_map(static fn($host) => preg_quote($host, '~'), $from));
    $slashes = '\\\\{0,7}/\\\\{0,7}/|%2F%2F';
    $replaced = preg_replace_callback(
        "~(?:(?<![+.-])(https?)(:|%3A))?($slashes)(?:$names)(?![a-z0-9_-]|\\.[a-z0-9])(?!(?::|%3A)\\d)~i",
        static fn($url) => ($url[1] === '' || $to['scheme'] === 'keep' ? $url[1] : $to['scheme'])
            . $url[2] . $url[3] . $to['host'],
        $text,
    );
    $replaced = $replaced === null ? null : preg_replace(
        "~($slashes)(?:$names)(?=(?::|%3A)\\d)~i",
        '${1}' . $to['host'],
        $replaced,
    );
    if ($replaced === null) {
        fwrite(STDERR, 'Could not search a value: ' . preg_last_error_msg() . "\n");
        exit(1);
    }
    return $replaced;
}

/**
 * Rewrites one value of PHP's serialisation from `$at` on, and moves `$at` behind it; null if there is none. Never
 * unserialises, because that would run code of any class that a plugin stored in the database.
 */
function rewrite_serialised(string $in, int &$at, array $from, array $to, int $depth = 0): ?string
{
    if ($depth > 200) {
        return null;
    }
    if (preg_match('/\G(?:N;|b:[01];|i:[+-]?\d+;|d:[^;]{1,64};|[rR]:\d+;)/A', $in, $match, 0, $at)) {
        $at += strlen($match[0]);
        return $match[0];
    }
    // Text and enumeration case, with the length in bytes.
    if (preg_match('/\G([sE]):(\d+):"/A', $in, $match, 0, $at)) {
        $start = $at + strlen($match[0]);
        $length = (int) $match[2];
        if (substr($in, $start + $length, 2) !== '";') {
            return null;
        }
        $text = substr($in, $start, $length);
        $at = $start + $length + 2;
        if ($match[1] === 's') {
            $text = replace_in_value($text, $from, $to);
        }
        return $match[1] . ':' . strlen($text) . ':"' . $text . '";';
    }
    // A class with its own format, which only the class can interpret.
    if (preg_match('/\GC:(\d+):"[^"]*":(\d+):\{/A', $in, $match, 0, $at)) {
        $end = $at + strlen($match[0]) + (int) $match[2];
        if (substr($in, $end, 1) !== '}') {
            return null;
        }
        $whole = substr($in, $at, $end + 1 - $at);
        $at = $end + 1;
        return $whole;
    }
    if (preg_match('/\G(?:a|O:\d+:"[^"]*"):(\d+):\{/A', $in, $match, 0, $at)) {
        $out = $match[0];
        $at += strlen($match[0]);
        for ($part = 0; $part < 2 * (int) $match[1]; $part++) {
            // Keep keys: no one looks up an address by key.
            $one = rewrite_serialised($in, $at, $part % 2 === 0 ? [] : $from, $to, $depth + 1);
            if ($one === null) {
                return null;
            }
            $out .= $one;
        }
        if (substr($in, $at, 1) !== '}') {
            return null;
        }
        $at++;
        return $out . '}';
    }
    return null;
}
