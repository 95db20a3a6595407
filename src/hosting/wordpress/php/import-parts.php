<?php
/**
 * Reads all entries of the files of an archive, with the names that they have in the website: also of UpdraftPlus, which makes several
 * files, and of archives of Plesk and cPanel, which contain archives. See import-archive.php.
 */
require __DIR__ . '/import-archive.php';

/** No archive of a website shrinks so much, but a bomb does. Small ones do no harm. */
const HIGHEST_RATIO = 200;
const HARMLESS_BYTES = 64 << 20;

/** Refuses an archive of so many bytes that has too many unpacked. */
function require_no_bomb(int $unpacked, int $packed): void
{
    if ($unpacked > HARMLESS_BYTES && $unpacked > HIGHEST_RATIO * $packed) {
        refuse('The archive expands to more than ' . HIGHEST_RATIO . ' times its size, as no website does.');
    }
}

/**
 * UpdraftPlus makes several files of a website, which lie beside each other: `backup_<time>_<site>_<id>-db.gz`, `-plugins.zip`,
 * `-uploads2.zip`. Naming one of them means all.
 */
function archives_of(string $archive): array
{
    if (!is_file($archive)) {
        refuse('The file "' . basename($archive) . '" does not exist. Upload it by SFTP and check the path.');
    }
    if (preg_match('/^(backup_.+)-(?:db|plugins|themes|uploads|others|mu-plugins)\d*\.(?:gz|zip|crypt)$/', basename($archive), $match) !== 1) {
        return [$archive];
    }
    $all = array_values(array_filter(
        glob(dirname($archive) . '/' . addcslashes($match[1], '*?[]\\') . '-*') ?: [],
        static fn($path) => part_of_updraft($path) !== null && is_file($path),
    ));
    if (preg_grep('/-db\d*\.gz\.crypt$/', $all) !== []) {
        refuse('The database of this UpdraftPlus backup is encrypted. Make the backup again without an encryption phrase.');
    }
    if (preg_grep('/-db\.gz$/', $all) === []) {
        refuse("The file {$match[1]}-db.gz is missing. Upload all files of the UpdraftPlus backup into one folder.");
    }
    return $all;
}

/** `db`, `plugins`, `uploads` and so on; null for other files. */
function part_of_updraft(string $path): ?string
{
    return preg_match('/^backup_.+-(db|plugins|themes|uploads|others|mu-plugins)\d*\.(?:gz|zip|gz\.crypt)$/', basename($path), $match) === 1
        ? $match[1]
        : null;
}

/** The entries of one file, with the names that they have in the website. */
function entries_of_part(string $file): Generator
{
    $part = part_of_updraft($file);
    if ($part === 'db') {
        yield ['name' => basename($file, '.gz') . '.sql.gz', 'type' => 'file', 'size' => filesize($file), 'time' => 0, 'read' => reader_of($file)];
        return;
    }
    $start = (string) file_get_contents($file, false, null, 0, WPRESS_HEADER);
    $isWpress = is_wpress($start);
    foreach (entries_of($file) as $entry) {
        $isOfContent = $part !== null || ($isWpress && !in_array($entry['name'], ['package.json', 'database.sql', 'multisite.json', 'blogs.json'], true));
        if ($isWpress && ($entry['name'] === 'multisite.json' || $entry['name'] === 'blogs.json')) {
            refuse('The archive has a network of websites (multisite). Export its websites one by one.');
        }
        yield $isOfContent ? ['name' => 'wp-content/' . ltrim($entry['name'], '/'), 'given' => $entry['name']] + $entry : $entry;
    }
}

/**
 * The entries of one file. Hard links of an entry begin at its `prefix`. `spool`: a folder for archives within it, which are read as folders.
 */
function entries_within(string $file, string $spool, int $mostBytes): Generator
{
    $spooled = 0;
    foreach (entries_of_part($file) as $entry) {
        $place = $entry['type'] === 'file' ? nested_place($entry['name']) : null;
        if ($place === null) {
            yield $entry;
            continue;
        }
        $spooled += $entry['size'];
        // Before it is written, because most installs have no limit of bytes.
        require_no_bomb($spooled, filesize($file));
        if ($mostBytes > 0 && $spooled > $mostBytes) {
            refuse('The archive has more bytes than an install may have (' . round($mostBytes / (1 << 30), 2) . ' GB).');
        }
        yield from nested_entries(spooled($entry, $spool), $place);
    }
}

/**
 * The folder for the content of an archive within an archive, or the name of the dump in it; null for other files.
 *
 * - Plesk: `backup_user-data_<time>.tgz` has the folders of a subscription, and `databases/<name>_<number>/backup_sqldump_<time>.tgz` a dump.
 * - Older versions of cPanel: `homedir.tar`.
 *
 * @return array{folder: string, isPlesk?: true}|array{dump: string, isPlesk: true}|null
 */
function nested_place(string $name): ?array
{
    $ending = '\.(?:tgz|tar\.gz|tzst|tar\.zst|tar|zip)$~i';
    if (preg_match("~^(?:(.+)/)?databases/([^/]+?)(?:_\d+)?/backup_sqldump_\d+$ending", $name, $match) === 1) {
        return ['dump' => ($match[1] === '' ? '' : "$match[1]/") . "databases/$match[2].sql", 'isPlesk' => true];
    }
    if (preg_match("~^(?:(.+)/)?backup_user-data_\d+$ending", $name, $match) === 1) {
        return ['folder' => $match[1] ?? '', 'isPlesk' => true];
    }
    return preg_match('~^((?:[^/]+/)?homedir)\.tar(?:\.gz)?$~', $name, $match) === 1 ? ['folder' => $match[1]] : null;
}

/** Writes an archive within an archive to a file, once for all readings. */
function spooled(array $entry, string $spool): string
{
    $file = "$spool/" . sha1($entry['name']);
    if (is_file($file)) {
        return $file;
    }
    is_dir($spool) || mkdir($spool, 0700, true);
    $out = fopen($file, 'xb');
    $written = 0;
    while ($written <= $entry['size'] && ($bytes = $entry['read']()) !== '') {
        $written += strlen($bytes);
        if (@fwrite($out, $bytes) !== strlen($bytes)) {
            refuse("There is no room for \"{$entry['name']}\".");
        }
    }
    fclose($out);
    if ($written !== $entry['size']) {
        refuse("The file \"{$entry['name']}\" in the archive is damaged or incomplete. Upload the archive again in binary mode.");
    }
    return $file;
}

function nested_entries(string $file, array $place): Generator
{
    $isPlesk = $place['isPlesk'] ?? false;
    foreach (entries_of($file) as $entry) {
        if (!isset($place['dump'])) {
            $prefix = $place['folder'];
            yield ['name' => $prefix === '' ? $entry['name'] : "$prefix/" . ltrim($entry['name'], '/'), 'given' => $entry['name'], 'prefix' => $prefix, 'isPlesk' => $isPlesk] + $entry;
        } elseif ($entry['type'] === 'file') {
            yield ['name' => $place['dump'], 'isPlesk' => $isPlesk] + $entry;
            return;
        }
    }
}

function reader_of(string $file): Closure
{
    $in = fopen($file, 'rb');
    return static fn(): string => (string) fread($in, PIECE);
}
