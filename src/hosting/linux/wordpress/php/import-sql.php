<?php
/**
 * Rewrites the dump of a foreign database, so that the install's own user can load it into one database of MariaDB, with nothing
 * lost in silence. Reads plain and compressed files. Prints the SQL. Exits with status 3 and a sentence on standard error for a
 * dump that cannot be imported.
 *
 * Arguments: the dump, the most bytes (0: no limit).
 *
 * - Statements of dumps pass, also in comments with versions. Those about rights, replication, files and programs are refused.
 * - USE and CREATE DATABASE are left out, and so is the name of that database before tables. Two databases are refused.
 * - Definers are left out, because only a user with more rights may name others.
 * - Settings of the session are our own. In the strict mode, the server refuses texts in the wrong encoding instead of cutting them.
 */
const PIECE = 1 << 20;
/** The server accepts no longer statement (max-allowed-packet). */
const LONGEST_STATEMENT = 32 << 20;
const SESSION = "SET NAMES utf8mb4;\nSET SESSION foreign_key_checks = 0, unique_checks = 0, innodb_strict_mode = 0, "
    . "sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES';\n";
const NAME = '(?:`(?:[^`]|``)+`|[\w$]+)';
/** What stands before the name of a table. */
const BEFORE_TABLE = '(?:INSERT(?:\s+(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*\s+(?:INTO\s+)?|REPLACE\s+(?:INTO\s+)?'
    . '|CREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?|DROP\s+(?:TABLE|VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT)\s+(?:IF\s+EXISTS\s+)?'
    . '|ALTER\s+TABLE\s+|TRUNCATE\s+(?:TABLE\s+)?|UPDATE\s+|DELETE\s+FROM\s+)';
/** Statements without an effect on the content of this database, or with one that our own have. */
const LEFT_OUT = '/^(?:USE|LOCK|UNLOCK|START\s+TRANSACTION|BEGIN|COMMIT|ANALYZE|OPTIMIZE|FLUSH\s+(?:TABLES|PRIVILEGES)|(?:CREATE|ALTER|DROP)\s+(?:DATABASE|SCHEMA))\b/i';
const CREATE = 'CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:ALGORITHM|DEFINER|SQL\s+SECURITY)\s*=?\s*\S+\s+)*';
const PROGRAM = '/^' . CREATE . '(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)\b/i';
const PASSES = '/^(?:INSERT|REPLACE|' . CREATE . '(?:(?:TEMPORARY\s+)?TABLE|(?:UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX|VIEW|SEQUENCE)'
    . '|ALTER\s+TABLE|DROP\s+(?:TABLE|VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT|INDEX|SEQUENCE)|TRUNCATE|UPDATE|DELETE)\b/i';

[, $file, $mostBytes] = $argv;
$dump = open_dump($file);
$isMislabelled = says_latin1($dump) && is_utf8($file);
$state = ['name' => null, 'tables' => 0, 'bytes' => 0, 'latin1' => $isMislabelled];
echo SESSION;
foreach (statements_of($dump) as [$line, $statement]) {
    $text = rewritten($statement, $line, $state);
    $state['bytes'] += strlen($text);
    if ((int) $mostBytes > 0 && $state['bytes'] > (int) $mostBytes) {
        refuse('The dump has more bytes than an install may have.');
    }
    echo $text;
}
if ($state['tables'] === 0) {
    refuse('The dump creates no table.');
}

function refuse(string $reason): never
{
    fwrite(STDERR, preg_replace('/[\x00-\x1f\x7f]+/', ' ', mb_scrub($reason)));
    exit(3);
}

/** @return resource */
function open_dump(string $file)
{
    $dump = gzopen($file, 'rb') ?: refuse('The dump cannot be opened.');
    $start = (string) gzread($dump, 4096);
    if (str_starts_with($start, "\xff\xfe") || str_starts_with($start, "\xfe\xff") || str_contains($start, "\0")) {
        refuse('The dump is not text in UTF-8 but UTF-16, as PowerShell writes it. Export it with mysqldump --result-file.');
    }
    gzseek($dump, str_starts_with($start, "\xef\xbb\xbf") ? 3 : 0);
    return $dump;
}

/** @param resource $dump */
function says_latin1($dump): bool
{
    $at = gztell($dump);
    $start = (string) gzread($dump, PIECE);
    gzseek($dump, $at);
    return preg_match('/\bSET\s+NAMES\s+\'?latin1\b/i', $start) === 1;
}

/** Old websites have UTF-8 in tables that claim to be latin1. Real latin1 is never UTF-8 throughout, unless it is ASCII. */
function is_utf8(string $file): bool
{
    $in = gzopen($file, 'rb');
    $rest = '';
    while (($piece = (string) gzread($in, PIECE)) !== '') {
        $text = $rest . $piece;
        // A character can continue in the next piece.
        $whole = preg_match('/(?:[\xc0-\xff][\x80-\xbf]{0,2})$/', substr($text, -4), $cut) === 1 ? strlen($text) - strlen($cut[0]) : strlen($text);
        if (!mb_check_encoding(substr($text, 0, $whole), 'UTF-8')) {
            return false;
        }
        $rest = substr($text, $whole);
    }
    return mb_check_encoding($rest, 'UTF-8');
}

/**
 * Splits a dump into statements, without comments and delimiters, and yields each with its line.
 *
 * @param resource $dump
 */
function statements_of($dump): Generator
{
    $text = '';
    $at = 0;
    $line = 1;
    $delimiter = ';';
    $statement = '';
    // Makes sure that some bytes follow, unless the dump ends.
    $has = static function (int $length) use ($dump, &$text, &$at): bool {
        while (strlen($text) - $at < $length) {
            $more = (string) gzread($dump, PIECE);
            if ($more === '') {
                return false;
            }
            $text = substr($text, $at) . $more;
            $at = 0;
        }
        return true;
    };
    // Moves bytes into the statement, and counts its lines.
    $take = static function (int $length) use (&$text, &$at, &$statement): void {
        $statement .= substr($text, $at, $length);
        $at += $length;
    };
    while ($has(1)) {
        $length = strcspn($text, "'\"`-#/{$delimiter[0]}dD", $at);
        if ($length > 0) {
            $take($length);
            require_length($statement, $line);
            continue;
        }
        $has(16);
        $character = $text[$at];
        if ($character === "'" || $character === '"' || $character === '`') {
            take_quoted($character, $has, $take, $text, $at, $statement, $line);
        } elseif (substr_compare($text, $delimiter, $at, strlen($delimiter)) === 0) {
            $at += strlen($delimiter);
            if (trim($statement) !== '') {
                yield [$line + substr_count($statement, "\n", 0, strlen($statement) - strlen(ltrim($statement))), trim($statement)];
            }
            $line += substr_count($statement, "\n");
            $statement = '';
        } elseif ($character === '#' || preg_match('/\G--(?:[\s]|$)/', $text, $match, 0, $at) === 1) {
            $line += skip_through("\n", $has, $text, $at);
            // The line end separates words, as the comment did.
            $statement .= ' ';
        } elseif (preg_match('~\G/\*(?!M?!(?!999999))~', $text, $match, 0, $at) === 1) {
            // Dumps of MariaDB begin with a command for its client in a comment of version 999999.
            $line += skip_through('*/', $has, $text, $at);
            $statement .= ' ';
        } elseif (($character === 'd' || $character === 'D') && strlen($statement) < 1000 && trim($statement) === ''
            && preg_match('/\GDELIMITER[ \t]+(\S{1,8})[ \t]*(?:\r?\n|$)/i', $text, $match, 0, $at) === 1) {
            $delimiter = $match[1];
            $at += strlen($match[0]);
            $line += 1 + substr_count($statement, "\n");
            $statement = '';
        } else {
            $take(1);
        }
    }
    if (trim($statement) !== '') {
        // The last statement may lack its delimiter, but mysqldump never ends so.
        yield [$line, trim($statement)];
    }
}

function take_quoted(string $quote, Closure $has, Closure $take, string &$text, int &$at, string &$statement, int $line): void
{
    $take(1);
    $stops = $quote === '`' ? '`' : "$quote\\";
    while ($has(1)) {
        $length = strcspn($text, $stops, $at);
        if ($length > 0) {
            $take($length);
            require_length($statement, $line);
            continue;
        }
        // A doubled quote and an escaped character belong to the text.
        $isPair = $has(2) && ($text[$at] === '\\' || $text[$at + 1] === $quote);
        $isEnd = !$isPair && $text[$at] === $quote;
        $take($isPair ? 2 : 1);
        if ($isEnd) {
            return;
        }
    }
    refuse("The dump is incomplete: it ends in the middle of a text that begins after line $line. Export it again.");
}

/** Skips a comment, and returns its number of lines. */
function skip_through(string $end, Closure $has, string &$text, int &$at): int
{
    $lines = 0;
    while ($has(strlen($end))) {
        $found = strpos($text, $end, $at);
        $to = $found === false ? strlen($text) - strlen($end) + 1 : $found + strlen($end);
        $lines += substr_count($text, "\n", $at, $to - $at);
        $at = $to;
        if ($found !== false) {
            return $lines;
        }
    }
    $at = strlen($text);
    return $lines;
}

function require_length(string $statement, int $line): void
{
    if (strlen($statement) > LONGEST_STATEMENT) {
        refuse("The statement after line $line of the dump has more than 32 MiB. Export it with mysqldump --net-buffer-length=1M.");
    }
}

/** What is run instead of a statement; empty for nothing. */
function rewritten(string $statement, int $line, array &$state): string
{
    $plain = without_versions(substr($statement, 0, 4096));
    if ($plain === '') {
        return '';
    }
    if (preg_match('/^SET\b/i', $plain) === 1) {
        return set_by($plain, $state);
    }
    if (preg_match('/^(?:USE|(?:CREATE|ALTER|DROP)\s+(?:DATABASE|SCHEMA)(?:\s+IF\s+(?:NOT\s+)?EXISTS)?)\s+(' . NAME . ')/i', $plain, $match) === 1) {
        name_database($match[1], $line, $state);
        return '';
    }
    if (preg_match(LEFT_OUT, $plain) === 1) {
        return '';
    }
    $isProgram = preg_match(PROGRAM, $plain) === 1;
    if (!$isProgram && preg_match(PASSES, $plain) !== 1) {
        refuse("Line $line of the dump has a statement that is not imported: " . mb_strcut($plain, 0, 60) . '. Export the tables of the website only.');
    }
    if (preg_match('/^' . BEFORE_TABLE . '(' . NAME . ')\s*\./i', $plain, $match) === 1) {
        name_database($match[1], $line, $state);
        $statement = preg_replace('/(' . BEFORE_TABLE . ')' . NAME . '\s*\.\s*/i', '$1', $statement, 1);
    }
    // All-in-One WP Migration exports with this prefix, also in the names of options.
    $statement = str_replace('SERVMASK_PREFIX_', 'wp_', $statement);
    if (preg_match('/^(?:INSERT|REPLACE|UPDATE|DELETE)\b/i', $plain) === 1) {
        return "$statement;\n";
    }
    $state['tables'] += preg_match('/^CREATE\s+(?:TEMPORARY\s+)?TABLE\b/i', $plain);
    $statement = with_known_collations(preg_replace('/\bDEFINER\s*=\s*(?:' . NAME . '|\'[^\']*\')\s*@\s*(?:' . NAME . '|\'[^\']*\')/i', '', $statement, 1), $state['latin1']);
    if (!$isProgram) {
        return "$statement;\n";
    }
    if (str_contains($statement, ';;')) {
        refuse("Line $line of the dump has a trigger or procedure that cannot be imported. Export without --triggers, --routines and --events.");
    }
    return "DELIMITER ;;\n$statement;;\nDELIMITER ;\n";
}

/** The statement without the marks of comments that depend on the version of the server, whose content is run. */
function without_versions(string $statement): string
{
    return trim(preg_replace('~/\*M?!\d{0,6}|\*/~', ' ', $statement));
}

/** Only the encoding of the dump and its time zone count. */
function set_by(string $plain, array $state): string
{
    if (preg_match('/^SET\s+NAMES\s+[\'"]?(\w+)/i', $plain, $match) === 1) {
        $encoding = strtolower($match[1]);
        if ($encoding === 'binary') {
            refuse('The dump has no encoding (SET NAMES binary). Export it with --default-character-set=utf8mb4.');
        }
        return 'SET NAMES ' . ($state['latin1'] && $encoding === 'latin1' ? 'utf8mb4' : $encoding) . ";\n";
    }
    return preg_match('/\bTIME_ZONE\s*=\s*[\'"](\+00:00)[\'"]/i', $plain) === 1 ? "SET SESSION time_zone = '+00:00';\n" : '';
}

function name_database(string $name, int $line, array &$state): void
{
    $name = trim($name, '`');
    $state['name'] ??= $name;
    if ($state['name'] !== $name) {
        refuse("The dump has several databases: \"{$state['name']}\", and \"$name\" in line $line. Export only the database of the website.");
    }
}

/** Collations of later servers get the one that WordPress uses. */
function with_known_collations(string $statement, bool $isMislabelled): string
{
    $statement = preg_replace('/\b(?:utf8mb4|utf8mb3|utf8)_0900_bin\b/i', 'utf8mb4_bin', $statement);
    $statement = preg_replace('/\b(?:utf8mb4_|utf8mb3_)?(?:[a-z]{2,8}_){0,3}(?:0900|uca1400)_(?:\w+_)?[ac][is](?:_[ac][is])*(?:_ks)?\b/i', 'utf8mb4_unicode_520_ci', $statement);
    return $isMislabelled
        ? preg_replace(['/\blatin1_\w+/i', '/\b(CHARSET\s*=?\s*|CHARACTER\s+SET\s*=?\s*)latin1\b/i'], ['utf8mb4_unicode_520_ci', '$1utf8mb4'], $statement)
        : $statement;
}
