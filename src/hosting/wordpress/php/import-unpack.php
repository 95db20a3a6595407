<?php
/**
 * Unpacks the archive of a website, as the install's user in its sandbox: wp-content, and what tells about the database. Checks
 * every entry before it is written.
 *
 * Arguments: the archive, an empty folder for everything, the path that wp-content moves to, the most bytes and the most files
 * (0: no limit), and a dump that is not in the archive. Prints lines of JSON: `{"progress": [done, total]}`, and in the end `{"result": …}` or `{"refused": reason}`.
 */
require __DIR__ . '/import-archive.php';

/** No archive of a website shrinks so much, but a bomb does. Small ones do no harm. */
const HIGHEST_RATIO = 200;
const HARMLESS_BYTES = 64 << 20;
const LONGEST_NAME = 255;
const LONGEST_PATH = 1024;
const DEEPEST = 60;
/** A listing of a few names is enough for people. */
const NAMED = 5;
/** Files in wp-content that belong to the former host: its caches and its connection to its database. */
const DROP_INS = ['object-cache.php', 'advanced-cache.php', 'db.php'];

[, $archive, $folder, $place, $mostBytes, $mostFiles] = $argv;
$files = archives_of($archive);
$packed = array_sum(array_map('filesize', $files));
$limits = ['bytes' => (int) $mostBytes, 'files' => (int) $mostFiles, 'packed' => $packed];
$count = ['bytes' => 0, 'files' => 0, 'entries' => 0, 'told' => 0];
$seen = ['dumps' => [], 'configs' => [], 'contents' => []];
foreach ($files as $file) {
    foreach (entries_of_part($file) as $entry) {
        unpack_entry($entry, $file, $folder, $limits, $count, $seen);
    }
}
report($count, true);
$content = content_of($seen['contents']);
// Files of SQL in a website that has its dump elsewhere belong to plugins.
$dump = $argv[6] ?? "$folder/" . dump_of($seen['dumps'], $content);
$config = config_of($folder, $seen['configs'], $content);
foreach (DROP_INS as $name) {
    @unlink("$folder/$content/$name");
}
if (!rename("$folder/$content", $place)) {
    fwrite(STDERR, "Could not move wp-content.\n");
    exit(1);
}
echo json_encode(['result' => [
    'dump' => $dump,
    'tablePrefix' => $config,
    'isWpress' => is_wpress((string) file_get_contents($archive, false, null, 0, WPRESS_HEADER)),
    'files' => $count['files'],
    'bytes' => $count['bytes'],
]]), "\n";

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

function reader_of(string $file): Closure
{
    $in = fopen($file, 'rb');
    return static fn(): string => (string) fread($in, PIECE);
}

function unpack_entry(array $entry, string $file, string $folder, array $limits, array &$count, array &$seen): void
{
    $name = $entry['given'] ?? $entry['name'];
    $path = checked_path($name, $entry['name']);
    if ($entry['type'] !== 'file' && $entry['type'] !== 'folder') {
        refuse("The archive contains a {$entry['type']}: \"$name\". Pack the files themselves, without links, devices and holes.");
    }
    if (++$count['entries'] > 2_000_000) {
        refuse('The archive has more than 2,000,000 entries.');
    }
    if ($path === '') {
        return;
    }
    $isInContent = preg_match('~^(?:.*?/)?wp-content(?=/|$)~', $path, $match) === 1;
    if ($isInContent) {
        $seen['contents'][$match[0]] = true;
    }
    $isDump = $entry['type'] === 'file' && preg_match('/\.sql(?:\.gz)?$/i', $path) === 1;
    $isConfig = $entry['type'] === 'file' && basename($path) === 'wp-config.php' && $entry['size'] < PIECE;
    if (!$isInContent && !$isDump && !$isConfig) {
        return;
    }
    $count['files']++;
    if ($limits['files'] > 0 && $count['files'] > $limits['files']) {
        refuse("The archive has more files than an install may have ({$limits['files']}).");
    }
    if ($entry['type'] === 'folder') {
        make_folder("$folder/$path", $name);
        return;
    }
    write_file($entry, "$folder/$path", $name, $limits, $count);
    if ($isDump) {
        $seen['dumps'][] = $path;
    }
    if ($isConfig) {
        $seen['configs'][] = $path;
    }
}

/** The path in the website, without empty and single-dot parts. */
function checked_path(string $name, string $placed): string
{
    if (preg_match('//u', $name) !== 1) {
        refuse("The name \"$name\" is not UTF-8. Pack the website again with names in UTF-8, for example as .tar.gz on the former server.");
    }
    if (preg_match('/[\x00-\x1f\x7f]/', $name) === 1) {
        refuse("The name \"$name\" contains a control character.");
    }
    if (str_starts_with($name, '/') || preg_match('~^[A-Za-z]:/~', $name) === 1) {
        refuse("The archive has an absolute path: \"$name\". Pack it with relative paths.");
    }
    $parts = array_filter(explode('/', $placed), static fn($part) => $part !== '' && $part !== '.');
    if (in_array('..', $parts, true)) {
        refuse("The archive has a path that leads out of it: \"$name\".");
    }
    $path = implode('/', $parts);
    $longest = max([0, ...array_map('strlen', $parts)]);
    if (strlen($path) > LONGEST_PATH || $longest > LONGEST_NAME || count($parts) > DEEPEST) {
        refuse('The archive has a path that is too long: "' . mb_strcut($name, 0, 100) . '…".');
    }
    return $path;
}

function make_folder(string $path, string $name): void
{
    if (!is_dir($path) && !@mkdir($path, 0755, true)) {
        refuse("The folder \"$name\" is a file elsewhere in the archive, or there is no room for it.");
    }
}

function write_file(array $entry, string $path, string $name, array $limits, array &$count): void
{
    make_folder(dirname($path), dirname($name));
    $out = @fopen($path, 'xb') ?: refuse("The archive has \"$name\" twice.");
    $written = 0;
    while (($bytes = $entry['read']()) !== '') {
        $written += strlen($bytes);
        $count['bytes'] += strlen($bytes);
        require_bearable($count['bytes'], $limits);
        if (fwrite($out, $bytes) !== strlen($bytes)) {
            refuse("There is no room for \"$name\".");
        }
        report($count);
    }
    fclose($out);
    if ($written !== $entry['size']) {
        refuse("The file \"$name\" in the archive is damaged or incomplete. Upload the archive again in binary mode.");
    }
    if ($entry['time'] > 0) {
        touch($path, min($entry['time'], time()));
    }
}

function require_bearable(int $bytes, array $limits): void
{
    if ($limits['bytes'] > 0 && $bytes > $limits['bytes']) {
        refuse('The archive has more bytes than an install may have (' . round($limits['bytes'] / (1 << 30), 2) . ' GB).');
    }
    if ($bytes > HARMLESS_BYTES && $bytes > HIGHEST_RATIO * $limits['packed']) {
        refuse('The archive expands to more than ' . HIGHEST_RATIO . ' times its size, as no website does.');
    }
}

/** At most four times a second. */
function report(array &$count, bool $isLast = false): void
{
    $now = intdiv(hrtime(true), 250_000_000);
    if ($isLast || $now !== $count['told']) {
        echo json_encode(['progress' => [$count['bytes'], null]]), "\n";
    }
    $count['told'] = $now;
}

/** The folder of that name nearest to the top. */
function content_of(array $contents): string
{
    if ($contents === []) {
        refuse('The archive has no folder wp-content. Pack the folder of the WordPress, or wp-content itself.');
    }
    $paths = array_map('strval', array_keys($contents));
    $depth = min(array_map(static fn($path) => substr_count($path, '/'), $paths));
    $nearest = array_values(array_filter($paths, static fn($path) => substr_count($path, '/') === $depth));
    if (count($nearest) > 1) {
        refuse('The archive has several websites: ' . listed($nearest) . '. Pack one of them.');
    }
    return $nearest[0];
}

/** Plugins bring files of SQL too, so one outside of wp-content counts first. */
function dump_of(array $dumps, string $content): string
{
    $own = array_filter($dumps, static fn($path) => preg_match('~(?:^|/)(?:plugins|themes|mu-plugins|wp-includes|wp-admin|vendor|node_modules)/~', $path) !== 1);
    $outside = array_filter($own, static fn($path) => !str_starts_with($path, "$content/"));
    $found = array_values($outside === [] ? $own : $outside);
    if ($found === []) {
        refuse('The archive has no dump of the database (.sql or .sql.gz). Export the database, and pack the dump beside wp-content.');
    }
    if (count($found) > 1) {
        refuse('The archive has several dumps: ' . listed($found) . '. Pack only one.');
    }
    return $found[0];
}

/** The table prefix in the website's own configuration; null without one. */
function config_of(string $folder, array $configs, string $content): ?string
{
    $root = dirname($content);
    // WordPress also looks one folder above its own.
    $places = [$root === '.' ? 'wp-config.php' : "$root/wp-config.php", dirname($root) === '.' ? 'wp-config.php' : dirname($root) . '/wp-config.php'];
    foreach (array_intersect($places, $configs) as $path) {
        $text = (string) file_get_contents("$folder/$path");
        if (preg_match('/^\s*define\s*\(\s*[\'"]MULTISITE[\'"]\s*,\s*true\b/mi', $text) === 1) {
            refuse('The archive has a network of websites (multisite). Export its websites one by one.');
        }
        if (preg_match('~^(?!\s*(?://|\#|\*)).*?\$table_prefix\s*=\s*[\'"](\w{1,40})[\'"]\s*;~m', $text, $match) === 1) {
            return $match[1];
        }
    }
    return null;
}

function listed(array $names): string
{
    $more = count($names) - NAMED;
    return implode(', ', array_slice($names, 0, NAMED)) . ($more > 0 ? " and $more more" : '');
}
