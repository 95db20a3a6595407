<?php
/**
 * Loads the dump of a foreign database (import-dump.php) into the empty SQLite database of a website that nobody visits yet. Prints
 * lines of JSON as import-unpack.php does; the result has `skipped`, what SQLite cannot have.
 *
 * Arguments: the dump, the most bytes of the dump and of the database (0: no limit), and `wpress` for a dump of All-in-One WP Migration.
 */
require __DIR__ . '/import-dump.php';
require __DIR__ . '/import-rows.php';
require __DIR__ . '/sqlite-driver.php';

/** So often the statements are committed and the database is measured. */
const COMMITTED_BYTES = 8 << 20;
/** Encodings of a dump with the name that PHP has for them; null: no conversion. */
const KNOWN_ENCODINGS = ['utf8' => null, 'utf8mb3' => null, 'utf8mb4' => null, 'ascii' => null, 'latin1' => 'Windows-1252'];
const BINARY = '/\b_binary\s*[\'"]/i';

$mostBytes = (int) $argv[2];
$driver = homeport_sqlite_driver();
// Whoever loses this database begins again with an empty one.
foreach (['foreign_keys = OFF', 'journal_mode = MEMORY', 'synchronous = OFF'] as $setting) {
    $driver->execute_sqlite_query("PRAGMA $setting");
}
$driver->query("SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO'");
$encoding = null;
$skipped = [];
$loaded = 0;
$committed = 0;
$told = 0;
$driver->beginTransaction();
foreach (dump_statements($argv[1], $mostBytes, ($argv[3] ?? '') === 'wpress') as ['kind' => $kind, 'sql' => $sql, 'line' => $line]) {
    if ($kind === 'names') {
        if (!array_key_exists($sql, KNOWN_ENCODINGS)) {
            refuse("The dump is in the encoding $sql. Export it with --default-character-set=utf8mb4.");
        }
        $encoding = KNOWN_ENCODINGS[$sql];
    } elseif ($kind === 'program' || $kind === 'view') {
        $skipped += skipped_by($sql);
    } elseif ($kind !== 'zone') {
        foreach (short_statements(in_utf8($sql, $encoding, $line)) as $short) {
            try {
                $driver->query($short);
            } catch (Throwable $error) {
                // Its message repeats values.
                refuse("The database refuses the statement in line $line of the dump: " . mb_strcut($error->getMessage(), 0, 300) . '. Export the tables of the website only.');
            }
        }
        $loaded += strlen($sql);
        if ($loaded - $committed >= COMMITTED_BYTES) {
            $driver->commit();
            require_room($driver, $mostBytes);
            $driver->beginTransaction();
            $committed = $loaded;
        }
    }
    $now = intdiv(hrtime(true), 250_000_000);
    if ($now !== $told) {
        echo json_encode(['progress' => [$loaded, null]]), "\n";
    }
    $told = $now;
}
$driver->commit();
require_room($driver, $mostBytes);
echo json_encode(['progress' => [$loaded, $loaded]]), "\n";
echo json_encode(['result' => ['skipped' => array_keys($skipped)]], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE), "\n";

function refuse(string $reason): never
{
    echo json_encode(['refused' => preg_replace('/[\x00-\x1f\x7f]+/', ' ', mb_scrub($reason))], JSON_UNESCAPED_UNICODE), "\n";
    exit(0);
}

/** The name of a view or program that a statement creates, as a key. */
function skipped_by(string $sql): array
{
    $plain = without_versions(substr($sql, 0, 4096));
    return preg_match('/^CREATE\b.*?\b(VIEW|SEQUENCE|TRIGGER|PROCEDURE|FUNCTION|EVENT)\s+(?:IF\s+NOT\s+EXISTS\s+)?(' . NAME . ')/is', $plain, $match) === 1
        ? [strtolower($match[1]) . ' ' . trim($match[2], '`') => true]
        : [];
}

function in_utf8(string $sql, ?string $encoding, int $line): string
{
    $hasBytes = preg_match(BINARY, $sql) === 1;
    if ($encoding !== null) {
        return $hasBytes
            ? refuse("Line $line of the dump has binary values between texts in another encoding than UTF-8. Export it with --hex-blob.")
            : mb_convert_encoding($sql, 'UTF-8', $encoding);
    }
    return $hasBytes || mb_check_encoding($sql, 'UTF-8')
        ? $sql
        : refuse("Line $line of the dump has texts in another encoding than it says. Export it with --default-character-set=utf8mb4.");
}

function require_room(WP_SQLite_Driver $driver, int $mostBytes): void
{
    $number = static fn(string $name): int => (int) $driver->execute_sqlite_query("PRAGMA $name")->fetchColumn();
    if ($mostBytes > 0 && $number('page_count') * $number('page_size') > $mostBytes) {
        refuse('The database becomes larger than that of an install may be (' . number_format($mostBytes >> 20) . ' MiB). Delete what the website does not need, and try again.');
    }
}
