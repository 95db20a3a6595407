<?php
/**
 * Reads an archive once without unpacking it: which websites it has, their configurations, its dumps and links. Then chooses what is
 * imported. See import-parts.php.
 */
const MOST_ENTRIES = 2_000_000;
const MOST_LINKS = 20_000;
/** The most files of each kind that are looked into. */
const MOST_READ = 1_000;
const LONGEST_NAME = 255;
const LONGEST_PATH = 1024;
const DEEPEST = 60;
/** A listing of a few names is enough for people, unless they have to choose. */
const NAMED = 5;
const CHOICES = 20;
const MOST_NAME_IN_LIST = 60;
/** A path in the folder nearest to the top of that name. */
const IN_CONTENT = '~^(?:.*?/)?wp-content(?=/|$)~';
/** In the backup of an account by cPanel. */
const OF_ACCOUNT = '~^(?:[^/]+/)?(userdata|cron|dnszones|homedir/mail)/.~';
/** Plugins bring files of SQL, too. */
const OF_PLUGIN = '~(?:^|/)(?:plugins|themes|mu-plugins|wp-includes|wp-admin|vendor|node_modules)/~';

/**
 * `packed`: bytes of the archive.
 *
 * @return array{contents: array<string, true>, configs: array<string, array>, dumps: array<string, array>, links: array<string, array>,
 *     userdata: array<string, string>, tops: array<string, true>, isHomeport: bool, isPlesk: bool, domain: ?string}
 */
function survey(iterable $entries, int $packed): array
{
    $seen = ['contents' => [], 'configs' => [], 'dumps' => [], 'links' => [], 'userdata' => [], 'tops' => [], 'isHomeport' => false, 'isPlesk' => false, 'domain' => null];
    $count = 0;
    $bytes = 0;
    foreach ($entries as $entry) {
        $bytes += $entry['size'];
        require_no_bomb($bytes, $packed);
        if (++$count > MOST_ENTRIES) {
            refuse('The archive has more than ' . number_format(MOST_ENTRIES) . ' entries.');
        }
        if (preg_match(OF_ACCOUNT, $entry['name'], $match) === 1 && $entry['type'] !== 'folder') {
            $seen['tops'][$match[1]] = true;
        }
        $path = checked_path($entry);
        if ($path !== null && $path !== '') {
            survey_entry($entry, $path, $seen);
        }
    }
    return $seen;
}

function survey_entry(array $entry, string $path, array &$seen): void
{
    $isFile = $entry['type'] === 'file';
    $seen['isPlesk'] = $seen['isPlesk'] || ($entry['isPlesk'] ?? false);
    if (preg_match(IN_CONTENT, $path, $match) === 1) {
        $seen['contents'][$match[0]] = true;
    }
    if ($entry['type'] === 'link' || $entry['type'] === 'hard link') {
        $seen['links'][$path] = ['type' => $entry['type'], 'target' => $entry['target'], 'prefix' => $entry['prefix'] ?? ''];
        if (count($seen['links']) > MOST_LINKS) {
            refuse('The archive has more than ' . number_format(MOST_LINKS) . ' links.');
        }
    }
    if (!$isFile) {
        return;
    }
    if (is_config($path) && $entry['size'] < PIECE && count($seen['configs']) < MOST_READ) {
        $seen['configs'][$path] = config_in(read_all($entry));
    } elseif (preg_match('/\.sql(?:\.gz)?$/i', $path) === 1 && preg_match(OF_PLUGIN, $path) !== 1 && count($seen['dumps']) < MOST_READ) {
        $seen['dumps'][$path] = dump_in($path, $entry['read']());
    } elseif (preg_match('~^(?:[^/]+/)?userdata/([^/]+)$~', $path, $match) === 1 && $entry['size'] < PIECE && count($seen['userdata']) < MOST_READ) {
        $seen['userdata'][$match[1]] = read_all($entry);
    } elseif ($path === 'homeport.json') {
        $seen['isHomeport'] = true;
    } elseif (preg_match('~^backup_info_\d+\.xml$~', $path) === 1 && preg_match('~<domain\b[^>]*\sname="([^"]+)"~', $entry['read'](), $match) === 1) {
        $seen['domain'] = shown($match[1]);
    }
}

/** Duplicator keeps the configuration beside its installer. */
function is_config(string $path): bool
{
    return basename($path) === 'wp-config.php' || preg_match('~(?:^|/)dup-installer/(?:.*/)?(?:source_site_wpconfig|dup-wp-config-arc__[^/]+)$~', $path) === 1;
}

/** @return array{prefix: ?string, database: ?string, isNetwork: bool} */
function config_in(string $text): array
{
    $isNetwork = preg_match('/^\s*define\s*\(\s*[\'"]MULTISITE[\'"]\s*,\s*true\b/mi', $text) === 1;
    $prefix = preg_match('~^(?!\s*(?://|\#|\*)).*?\$table_prefix\s*=\s*[\'"](\w{1,40})[\'"]\s*;~m', $text, $match) === 1 ? $match[1] : null;
    $database = preg_match('~^(?!\s*(?://|\#|\*)).*?\bdefine\s*\(\s*[\'"]DB_NAME[\'"]\s*,\s*[\'"]([^\'"]{1,64})[\'"]~mi', $text, $match) === 1 ? $match[1] : null;
    return ['prefix' => $prefix, 'database' => $database, 'isNetwork' => $isNetwork];
}

/**
 * What the beginning of a dump says: its database, and whether it has rights of users only, as `mysql.sql` of cPanel does.
 *
 * @return array{database: ?string, isRights: bool}
 */
function dump_in(string $path, string $start): array
{
    $text = str_starts_with($start, GZIP) ? (string) @inflate_add(inflate_init(ZLIB_ENCODING_GZIP), substr($start, 0, 65_536), ZLIB_SYNC_FLUSH) : $start;
    $text = substr($text, 0, 65_536);
    $database = preg_match('/^-- .*\bDatabase:\s+`?([^\s`]+)`?\s*$/m', $text, $match) === 1 ? $match[1] : null;
    $isRights = preg_match('/^\s*(?:GRANT|CREATE\s+USER)\b/mi', $text) === 1 && preg_match('/^\s*(?:CREATE\s+TABLE|INSERT)\b/mi', $text) !== 1;
    return ['database' => $database, 'isRights' => $isRights || basename($path) === 'mysql.sql' && preg_match('/\bCREATE\s+TABLE\b/i', $text) !== 1];
}

function read_all(array $entry): string
{
    $text = '';
    while (($bytes = $entry['read']()) !== '') {
        $text .= $bytes;
    }
    return $text;
}

/**
 * The path in the archive, without empty and single-dot parts; null for an entry outside of every website with a name that cannot be
 * written, such as an email.
 */
function checked_path(array $entry): ?string
{
    $name = $entry['given'] ?? $entry['name'];
    $parts = array_filter(explode('/', $entry['name']), static fn($part) => $part !== '' && $part !== '.');
    if (in_array('..', $parts, true)) {
        refuse("The archive has a path that leads out of it: \"$name\".");
    }
    if (str_starts_with($name, '/') || preg_match('~^[A-Za-z]:/~', $name) === 1) {
        refuse("The archive has an absolute path: \"$name\". Pack it with relative paths.");
    }
    $path = implode('/', $parts);
    $longest = max([0, ...array_map('strlen', $parts)]);
    $fault = match (true) {
        preg_match('//u', $name) !== 1 => "The name \"$name\" is not UTF-8. Pack the website again with names in UTF-8, for example as .tar.gz on the former server.",
        preg_match('/[\x00-\x1f\x7f]/', $name) === 1 => "The name \"$name\" contains a control character.",
        strlen($path) > LONGEST_PATH || $longest > LONGEST_NAME || count($parts) > DEEPEST => 'The archive has a path that is too long: "' . mb_strcut($name, 0, 100) . '…".',
        default => null,
    };
    if ($fault === null) {
        return $path;
    }
    return preg_match(IN_CONTENT, $path) === 1 ? refuse($fault) : null;
}

function listed(array $names, int $most = NAMED): string
{
    $more = count($names) - $most;
    $shown = array_map(static fn($name) => mb_strlen((string) $name) > MOST_NAME_IN_LIST ? mb_substr((string) $name, 0, MOST_NAME_IN_LIST) . '…' : $name, array_slice($names, 0, $most));
    return implode(', ', $shown) . ($more > 0 ? " and $more more" : '');
}
