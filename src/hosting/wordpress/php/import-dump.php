<?php
/**
 * Reads the dump of a foreign database, statement by statement, so that nothing of it is lost in silence and nothing leaves its database.
 * Reads plain and compressed files. import-sql.php and import-sqlite.php run the statements. They define `refuse`, which ends the
 * script with a sentence about a dump that cannot be imported.
 *
 * - Statements of dumps pass, also in comments with versions. Those about rights, replication, files and programs are refused.
 * - USE and CREATE DATABASE are left out, and so is the name of that database before tables. Two databases are refused.
 * - Nothing outside of texts may be a command of the client, which reads `\!` and `delimiter` anywhere in a statement. The rights of
 *   the user who loads the dump keep it from other databases.
 * - Definers are left out, because only a user with more rights may name others.
 */
const PIECE = 1 << 20;
/** MariaDB accepts no longer statement (max-allowed-packet). */
const LONGEST_STATEMENT = 32 << 20;
const NAME = '(?:`(?:[^`]|``)+`|[\w$]+)';
/** What stands before the name of a table. */
const BEFORE_TABLE = '(?:INSERT(?:\s+(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*\s+(?:INTO\s+)?|REPLACE\s+(?:INTO\s+)?'
    . '|CREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?|DROP\s+(?:TABLE|VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT)\s+(?:IF\s+EXISTS\s+)?'
    . '|ALTER\s+TABLE\s+|TRUNCATE\s+(?:TABLE\s+)?|UPDATE\s+|DELETE\s+FROM\s+)';
/** Statements without an effect on the content of this database, or with one that our own have. */
const LEFT_OUT = '/^(?:USE|LOCK|UNLOCK|START\s+TRANSACTION|BEGIN|COMMIT|ANALYZE|OPTIMIZE|FLUSH\s+(?:TABLES|PRIVILEGES)|(?:CREATE|ALTER|DROP)\s+(?:DATABASE|SCHEMA))\b/i';
const CREATE = 'CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:ALGORITHM|DEFINER|SQL\s+SECURITY)\s*=?\s*\S+\s+)*';
const PROGRAM = '/^' . CREATE . '(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)\b/i';
const VIEW = '/^(?:' . CREATE . '|DROP\s+)(?:VIEW|SEQUENCE|TRIGGER|PROCEDURE|FUNCTION|EVENT)\b|^DO\s+SETVAL\b/i';
const PASSES = '/^(?:INSERT|REPLACE|' . CREATE . '(?:(?:TEMPORARY\s+)?TABLE|(?:UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX|VIEW|SEQUENCE)'
    . '|ALTER\s+TABLE|DROP\s+(?:TABLE|VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT|INDEX|SEQUENCE)|TRUNCATE|UPDATE|DELETE|DO\s+SETVAL)\b/i';

/** No dump shrinks so much when it is compressed, but a bomb does. Small ones do no harm. */
const HIGHEST_RATIO = 200;
const HARMLESS_BYTES = 64 << 20;
/** Modes of the server that change what a trigger or procedure does, and not how it is read. */
const PROGRAM_MODES = ['ONLY_FULL_GROUP_BY', 'STRICT_TRANS_TABLES', 'STRICT_ALL_TABLES', 'NO_ZERO_IN_DATE', 'NO_ZERO_DATE', 'ALLOW_INVALID_DATES',
    'ERROR_FOR_DIVISION_BY_ZERO', 'NO_ENGINE_SUBSTITUTION', 'NO_AUTO_VALUE_ON_ZERO', 'NO_UNSIGNED_SUBTRACTION', 'PAD_CHAR_TO_FULL_LENGTH', 'PIPES_AS_CONCAT'];

/** Encodings in which no byte of a longer character is a quote or a backslash. In others, the client and the server differ. */
const ENCODINGS = '/^(?:utf8(?:mb[34])?|ascii|latin[1257]|cp(?:125[0167]|85[02]|866)|koi8[ru]|greek|hebrew|tis620|ujis|eucjpms|euckr|gb2312)$/';

/**
 * The statements of a dump as {@see rewritten} gives them. `mostBytes`: 0 for no limit.
 *
 * @return Generator<array{kind: string, sql: string, line: int, isGenerated: bool}>
 */
function dump_statements(string $file, int $mostBytes, bool $isWpress): Generator
{
    $dump = open_dump($file);
    $mostRead = max(HARMLESS_BYTES, filesize($file) * HIGHEST_RATIO);
    $isMislabelled = says_latin1($dump) && is_utf8($file, $mostRead);
    $state = ['name' => null, 'tables' => 0, 'latin1' => $isMislabelled, 'wpress' => $isWpress, 'mode' => '', 'generated' => []];
    $bytes = 0;
    foreach (statements_of($dump, $mostRead) as [$line, $statement, $bare]) {
        $run = rewritten($statement, $bare, $line, $state);
        if ($run === null) {
            continue;
        }
        $bytes += strlen($run['sql']);
        if ($mostBytes > 0 && $bytes > $mostBytes) {
            refuse('The dump has more bytes than an install may have.');
        }
        yield $run + ['mode' => $state['mode']];
    }
    if ($state['tables'] === 0) {
        refuse('The dump creates no table.');
    }
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
function is_utf8(string $file, int $mostBytes): bool
{
    $in = gzopen($file, 'rb');
    $rest = '';
    while (($piece = (string) gzread($in, PIECE)) !== '') {
        require_no_bomb($in, $mostBytes);
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

/** @param resource $dump */
function require_no_bomb($dump, int $mostBytes): void
{
    if (gztell($dump) > $mostBytes) {
        refuse('The dump is more than ' . HIGHEST_RATIO . ' times as large as its file, which only a bomb is.');
    }
}

/**
 * Splits a dump into statements, without comments and delimiters, and yields each with its line, and
 * with a copy that has no texts.
 *
 * @param resource $dump
 */
function statements_of($dump, int $mostBytes): Generator
{
    $text = '';
    $at = 0;
    $line = 1;
    $delimiter = ';';
    $statement = '';
    $bare = '';
    // Whether a comment with a version is open.
    $isVersion = false;
    // Makes sure that some bytes follow, unless the dump ends.
    $has = static function (int $length) use ($dump, $mostBytes, &$text, &$at): bool {
        while (strlen($text) - $at < $length) {
            $more = (string) gzread($dump, PIECE);
            if ($more === '') {
                return false;
            }
            require_no_bomb($dump, $mostBytes);
            $text = substr($text, $at) . $more;
            $at = 0;
        }
        return true;
    };
    // Moves bytes into the statement, and counts its lines.
    $take = static function (int $length, bool $isText = false) use (&$text, &$at, &$statement, &$bare): void {
        $piece = substr($text, $at, $length);
        $statement .= $piece;
        $bare .= $isText ? '' : $piece;
        $at += $length;
    };
    while ($has(1)) {
        $length = strcspn($text, "'\"`-#/*\\{$delimiter[0]}dD", $at);
        if ($length > 0) {
            $take($length);
            require_length($statement, $line);
            continue;
        }
        $has(16);
        $character = $text[$at];
        if ($character === "'" || $character === '"' || $character === '`') {
            $begin = strlen($statement);
            take_quoted($character, $has, $take, $text, $at, $statement, $line);
            $bare .= $character . $character;
            // A server that skips the comment ends it there.
            if ($isVersion && strpos($statement, '*/', $begin) !== false) {
                refuse("The comment after line $line of the dump has the end of a comment in a text. Export the tables of the website only.");
            }
        } elseif (substr_compare($text, $delimiter, $at, strlen($delimiter)) === 0) {
            $at += strlen($delimiter);
            if (trim($statement) !== '') {
                if ($isVersion) {
                    refuse("The statement after line $line of the dump ends in a comment. Export it again.");
                }
                yield [$line + substr_count($statement, "\n", 0, strlen($statement) - strlen(ltrim($statement))), trim($statement), trim($bare)];
            }
            $line += substr_count($statement, "\n");
            $statement = $bare = '';
            $isVersion = false;
        } elseif ($character === '\\') {
            // NULL, for some exporters.
            if ($has(2) && $text[$at + 1] === 'N') {
                $take(2);
                continue;
            }
            refuse("Line " . ($line + substr_count($statement, "\n")) . ' of the dump has a backslash outside of a text, which begins a command of the client. Export it again.');
        } elseif ($character === '#' || preg_match('/\G--(?:[\s]|$)/', $text, $match, 0, $at) === 1) {
            $line += skip_through("\n", $has, $text, $at);
            // The line end separates words, as the comment did.
            $statement .= ' ';
            $bare .= ' ';
        } elseif (preg_match('~\G/\*(?!M?!(?!999999))~', $text, $match, 0, $at) === 1) {
            // Dumps of MariaDB begin with a command for its client in a comment of version 999999.
            $line += skip_through('*/', $has, $text, $at);
            $statement .= ' ';
            $bare .= ' ';
        } elseif (preg_match('~\G/\*M?!~', $text, $match, 0, $at) === 1) {
            if ($isVersion) {
                refuse("The statement after line $line of the dump has a comment in a comment. Export it again.");
            }
            $isVersion = true;
            // Not every client knows the mark of MariaDB.
            $at += strlen($match[0]);
            $statement .= '/*!';
            $bare .= '/*!';
        } elseif ($isVersion && substr_compare($text, '*/', $at, 2) === 0) {
            $isVersion = false;
            $take(2);
        } elseif (($character === 'd' || $character === 'D') && strlen($statement) < 1000 && trim($statement) === ''
            && preg_match('/\GDELIMITER[ \t]+(\S{1,8})[ \t]*(?:\r?\n|$)/i', $text, $match, 0, $at) === 1) {
            $delimiter = $match[1];
            $at += strlen($match[0]);
            $line += 1 + substr_count($statement, "\n");
            $statement = $bare = '';
        } else {
            $take(1);
        }
    }
    if (trim($statement) !== '') {
        // The last statement may lack its delimiter, but mysqldump never ends so.
        yield [$line, trim($statement), trim($bare)];
    }
}

function take_quoted(string $quote, Closure $has, Closure $take, string &$text, int &$at, string &$statement, int $line): void
{
    $take(1, true);
    $stops = "$quote\\";
    while ($has(1)) {
        $length = strcspn($text, $stops, $at);
        if ($length > 0) {
            $take($length, true);
            require_length($statement, $line);
            continue;
        }
        if ($quote === '`' && $text[$at] === '\\') {
            refuse("A name after line $line of the dump has a backslash. Rename it, and export the dump again.");
        }
        // A doubled quote and an escaped character belong to the text.
        $isPair = $has(2) && ($text[$at] === '\\' || $text[$at + 1] === $quote);
        $isEnd = !$isPair && $text[$at] === $quote;
        $take($isPair ? 2 : 1, true);
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

/**
 * What is run instead of a statement, and its kind: `names` and `zone` for settings of the session, `program` for triggers and the like,
 * `view`, `rows`, or `other`; null for nothing. `isGenerated`: whether the table of rows has generated columns.
 *
 * @return array{kind: string, sql: string, line: int, isGenerated: bool}|null
 */
function rewritten(string $statement, string $bare, int $line, array &$state): ?array
{
    $plain = without_versions(substr($statement, 0, 4096));
    if ($plain === '') {
        return null;
    }
    $run = static fn(string $kind, string $sql, bool $isGenerated = false): array => ['kind' => $kind, 'sql' => $sql, 'line' => $line, 'isGenerated' => $isGenerated];
    if (preg_match('/^SET\b/i', $plain) === 1) {
        $set = set_by($plain, $state);
        return $set === null ? null : $run(...$set);
    }
    if (preg_match('/^(?:USE|(?:CREATE|ALTER|DROP)\s+(?:DATABASE|SCHEMA)(?:\s+IF\s+(?:NOT\s+)?EXISTS)?)\s+(' . NAME . ')/i', $plain, $match) === 1) {
        name_database($match[1], $line, $state);
        return null;
    }
    if (preg_match(LEFT_OUT, $plain) === 1) {
        return null;
    }
    $isProgram = preg_match(PROGRAM, $plain) === 1;
    if (!$isProgram && preg_match(PASSES, $plain) !== 1) {
        refuse("Line $line of the dump has a statement that is not imported: " . mb_strcut($plain, 0, 60) . '. Export the tables of the website only.');
    }
    if (preg_match('/^' . BEFORE_TABLE . '(' . NAME . ')\s*\./i', $plain, $match) === 1) {
        name_database($match[1], $line, $state);
        $named = '/(' . BEFORE_TABLE . ')' . NAME . '\s*\.\s*/i';
        $statement = preg_replace($named, '$1', $statement, 1);
    }
    require_plain($bare, $isProgram, $line);
    if ($state['wpress']) {
        // Its dumps have this prefix, also in the names of options.
        $statement = str_replace('SERVMASK_PREFIX_', 'wp_', $statement);
        $plain = str_replace('SERVMASK_PREFIX_', 'wp_', $plain);
    }
    $table = preg_match('/^' . BEFORE_TABLE . '(?:' . NAME . '\s*\.\s*)?(' . NAME . ')/i', $plain, $match) === 1 ? trim($match[1], '`') : '';
    if (preg_match('/^(?:INSERT|REPLACE|UPDATE|DELETE|DO)\b/i', $plain) === 1) {
        return $run('rows', $statement, isset($state['generated'][$table]));
    }
    if (preg_match('/^CREATE\s+(?:TEMPORARY\s+)?TABLE\b/i', $plain) === 1) {
        $state['tables']++;
        if (preg_match('/\bAS\s*\(/i', $bare) === 1) {
            $state['generated'][$table] = true;
        }
    }
    $statement = with_known_collations(preg_replace('/\bDEFINER\s*=\s*(?:' . NAME . '|\'[^\']*\')\s*@\s*(?:' . NAME . '|\'[^\']*\')/i', '', $statement, 1), $state['latin1']);
    if ($isProgram) {
        return $run('program', $statement);
    }
    return $run(preg_match(VIEW, $plain) === 1 ? 'view' : 'other', $statement);
}

/** The statement without the marks of comments that depend on the version of the server, whose content is run. */
function without_versions(string $statement): string
{
    return trim(preg_replace('~/\*M?!\d{0,6}|\*/~', ' ', $statement));
}

/** Refuses commands of the client. `bare`: the statement without its texts and quoted names. */
function require_plain(string $bare, bool $isProgram, int $line): void
{
    $fault = match (true) {
        // A byte of control makes "--" a comment for some.
        preg_match('/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|--/', $bare) === 1 => 'characters that cannot be imported',
        preg_match('/delimiter\s/i', $bare) === 1 => 'a command of the client',
        !$isProgram && str_contains($bare, ';') => 'several statements in one',
        preg_last_error() !== PREG_NO_ERROR => 'names that are too long',
        default => null,
    };
    if ($fault !== null) {
        refuse("Line $line of the dump has $fault. Export the tables of the website only.");
    }
}

/**
 * Only the encoding of the dump, its time zone and the mode of programs count.
 *
 * @return array{string, string}|null the kind, and the encoding or the zone
 */
function set_by(string $plain, array &$state): ?array
{
    if (preg_match('/\bSQL_MODE\s*=\s*[\'"]([^\'"]*)[\'"]/i', $plain, $match) === 1) {
        $modes = array_map('trim', explode(',', strtoupper($match[1])));
        if (array_intersect($modes, ['ANSI', 'ANSI_QUOTES', 'ORACLE', 'NO_BACKSLASH_ESCAPES']) !== []) {
            refuse("The dump has the SQL mode {$match[1]}. Export it without --compatible.");
        }
        $state['mode'] = implode(',', array_intersect($modes, PROGRAM_MODES));
    }
    if (preg_match('/^SET\s+NAMES\s+[\'"]?(\w+)/i', $plain, $match) === 1) {
        $encoding = strtolower($match[1]);
        if ($encoding === 'binary') {
            refuse('The dump has no encoding (SET NAMES binary). Export it with --default-character-set=utf8mb4.');
        }
        if (preg_match(ENCODINGS, $encoding) !== 1) {
            refuse("The dump is in the encoding $encoding. Export it with --default-character-set=utf8mb4.");
        }
        return ['names', $state['latin1'] && $encoding === 'latin1' ? 'utf8mb4' : $encoding];
    }
    return preg_match('/\bTIME_ZONE\s*=\s*[\'"](\+00:00)[\'"]/i', $plain) === 1 ? ['zone', '+00:00'] : null;
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
