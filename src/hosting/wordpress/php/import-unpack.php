<?php
/**
 * Unpacks the archive of a website, as the install's user in its sandbox: wp-content, and what tells about the database. Checks
 * every entry before it is written. Reads the archive twice: first to see what it has, then to write what is imported.
 *
 * Arguments: the archive, an empty folder for everything, the path that wp-content moves to, the most bytes and the most files
 * (0: no limit), the website to import if the archive has several, and a dump that is not in the archive. Prints lines of JSON: `{"progress": [done, total]}`, and in
 * the end `{"result": …}` or `{"refused": reason}`.
 */
require __DIR__ . '/import-parts.php';
require __DIR__ . '/import-survey.php';
require __DIR__ . '/import-choice.php';
require __DIR__ . '/import-links.php';

/** Links can multiply what an archive has, also by files and folders without bytes. */
const MOST_LINKED = 500_000;

/** Files in wp-content that belong to the former host: its caches and its connection to its database. */
const DROP_INS = ['object-cache.php', 'advanced-cache.php', 'db.php'];

[, $archive, $folder, $place, $mostBytes, $mostFiles] = $argv;
$givenDump = ($argv[7] ?? '') === '' ? null : $argv[7];
is_dir($folder) || mkdir($folder, 0755);
$folder = realpath($folder);
$files = archives_of($archive);
$entries = static function () use ($files, $folder, $mostBytes): Generator {
    foreach ($files as $file) {
        yield from entries_within($file, "$folder/parts", (int) $mostBytes);
    }
};
$packed = array_sum(array_map('filesize', $files));
$seen = survey($entries(), $packed);
$website = chosen_website($seen, $argv[6] ?? '');
if ($website['config']['isNetwork'] ?? false) {
    refuse('The archive has a network of websites (multisite). Export its websites one by one.');
}
// Files of SQL in a website that has its dump elsewhere belong to plugins.
$dump = $givenDump === null ? chosen_dump($seen, $website) : null;
$links = decided_links($seen, $website['root']);
$unpacking = new Unpacking(
    $folder,
    $website['root'] === '' ? 'wp-content' : "{$website['root']}/wp-content",
    $dump,
    $links['placed'],
    ['bytes' => (int) $mostBytes, 'files' => (int) $mostFiles, 'packed' => $packed],
);
foreach ($entries() as $entry) {
    $unpacking->take($entry);
}
$unpacking->report(true);
$own = $unpacking->content();
$lost = make_links($own, $links, $unpacking->copy(...));
if (!rename($own, $place)) {
    fwrite(STDERR, "Could not move wp-content.\n");
    exit(1);
}
echo json_encode(['result' => [
    'dump' => $givenDump ?? $unpacking->dump(),
    'tablePrefix' => $website['config']['prefix'] ?? null,
    'isWpress' => is_wpress((string) file_get_contents($archive, false, null, 0, WPRESS_HEADER)),
    'files' => $unpacking->files,
    'bytes' => $unpacking->bytes,
    'notes' => [...notes_about_links($links['skipped'], [...$lost, ...$unpacking->unplaced()]), ...$unpacking->notes(), ...left_out($seen, $website, $dump)],
]], JSON_INVALID_UTF8_SUBSTITUTE), "\n";

function notes_about_links(array $skipped, array $lost): array
{
    return [
        ...($skipped === [] ? [] : ['Skipped ' . counted($skipped, 'link') . ' to places outside of the website: ' . listed($skipped) . '.']),
        ...($lost === [] ? [] : ['Skipped ' . counted($lost, 'link') . ' to files that the archive lacks: ' . listed($lost) . '.']),
    ];
}

function counted(array $names, string $word): string
{
    return count($names) === 1 ? "a $word" : number_format(count($names)) . " {$word}s";
}

/** Writes the entries of one website. */
final class Unpacking
{
    public int $files = 0;
    public int $bytes = 0;
    private int $told = 0;
    private ?string $written = null;
    /** @var list<string> */
    private array $special = [];
    /** @var list<string> links in folders that a link leads to */
    private array $inner = [];
    /** @var array<string, true> */
    private array $met = [];
    /** How many entries were placed because of a link. */
    private int $linked = 0;

    /**
     * @param array<string, list<string>> $placed see {@see decided_links}
     * @param array{bytes: int, files: int, packed: int} $limits
     */
    public function __construct(
        private readonly string $folder,
        private readonly string $root,
        private readonly ?string $dump,
        private readonly array $placed,
        private readonly array $limits,
    ) {
        $this->folder_at($this->content(), 'wp-content');
    }

    public function content(): string
    {
        return "{$this->folder}/wp-content";
    }

    public function dump(): string
    {
        return $this->written ?? refuse('The dump in the archive is damaged.');
    }

    public function take(array $entry): void
    {
        $path = checked_path($entry);
        if ($path === null || $path === '') {
            return;
        }
        $name = $entry['given'] ?? $entry['name'];
        if ($path === $this->dump && $entry['type'] === 'file') {
            $this->written = "{$this->folder}/dump.sql" . (str_ends_with(strtolower($path), '.gz') ? '.gz' : '');
            $this->count($name);
            $this->file_at($entry, $this->written, $name);
            return;
        }
        $places = $this->places_of($path);
        if ($places === []) {
            return;
        }
        if ($entry['type'] === 'link' || $entry['type'] === 'hard link') {
            if (!is_within($path, $this->root)) {
                $this->inner[] = $path;
            }
            return;
        }
        if ($entry['type'] === 'device') {
            $this->special[] = $path;
            return;
        }
        if ($entry['type'] !== 'file' && $entry['type'] !== 'folder') {
            refuse("The archive contains a {$entry['type']}: \"$name\". Pack the files themselves, without holes.");
        }
        $first = null;
        foreach ($places as $place) {
            if (in_array($place, DROP_INS, true)) {
                continue;
            }
            $this->count($name);
            $to = rtrim("{$this->content()}/$place", '/');
            if ($entry['type'] === 'folder') {
                $this->folder_at($to, $name);
            } elseif ($first === null) {
                $this->file_at($entry, $to, $name);
                $first = $to;
            } elseif (!$this->copy($first, $to)) {
                refuse("The archive has \"$name\" twice.");
            }
        }
    }

    /** The paths in `wp-content` that an entry has. */
    private function places_of(string $path): array
    {
        $places = is_within($path, $this->root) ? [ltrim(substr($path, strlen($this->root)), '/')] : [];
        if ($this->placed === []) {
            return $places;
        }
        // The path itself and all folders above it: cheaper than checking every link.
        for ($target = $path; ; $target = str_contains($target, '/') ? dirname($target) : '') {
            foreach ($this->placed[$target] ?? [] as $link) {
                $this->met[$target] = true;
                $places[] = trim($link . '/' . ltrim(substr($path, strlen($target)), '/'), '/');
                if (++$this->linked > MOST_LINKED) {
                    refuse('The links of the archive lead to more than ' . number_format(MOST_LINKED) . ' files. Remove links to the same folder from it.');
                }
            }
            if ($target === '') {
                return $places;
            }
        }
    }

    /** The links to something that the archive lacks. */
    public function unplaced(): array
    {
        return array_merge([], ...array_values(array_diff_key($this->placed, $this->met)));
    }

    /** Sentences about what was skipped. */
    public function notes(): array
    {
        return [
            ...($this->special === [] ? [] : ['Skipped ' . counted($this->special, 'special file') . ': ' . listed($this->special) . '.']),
            ...($this->inner === [] ? [] : ['Skipped ' . counted($this->inner, 'link') . ' in a folder that was copied in place of a link: ' . listed($this->inner) . '.']),
        ];
    }

    /** Copies a file that was written. False if the place is taken. */
    public function copy(string $from, string $to): bool
    {
        $this->folder_at(dirname($to), basename($to));
        if (file_exists($to) || is_link($to)) {
            return false;
        }
        if (++$this->linked > MOST_LINKED) {
            refuse('The links of the archive lead to more than ' . number_format(MOST_LINKED) . ' files. Remove links to the same folder from it.');
        }
        $this->count(basename($to));
        $this->add((int) filesize($from));
        return copy($from, $to) || refuse('There is no room for "' . basename($to) . '".');
    }

    private function count(string $name): void
    {
        if (++$this->files > $this->limits['files'] && $this->limits['files'] > 0) {
            refuse("The archive has more files than an install may have ({$this->limits['files']}).");
        }
    }

    private function folder_at(string $path, string $name): void
    {
        if (!is_dir($path) && !@mkdir($path, 0755, true)) {
            refuse("The folder \"$name\" is a file elsewhere in the archive, or there is no room for it.");
        }
    }

    private function file_at(array $entry, string $path, string $name): void
    {
        $this->folder_at(dirname($path), dirname($name));
        $out = @fopen($path, 'xb') ?: refuse("The archive has \"$name\" twice.");
        $written = 0;
        while (($bytes = $entry['read']()) !== '') {
            $written += strlen($bytes);
            $this->add(strlen($bytes));
            if (fwrite($out, $bytes) !== strlen($bytes)) {
                refuse("There is no room for \"$name\".");
            }
            $this->report();
        }
        fclose($out);
        if ($written !== $entry['size']) {
            refuse("The file \"$name\" in the archive is damaged or incomplete. Upload the archive again in binary mode.");
        }
        if ($entry['time'] > 0) {
            touch($path, min($entry['time'], time()));
        }
    }

    private function add(int $bytes): void
    {
        $this->bytes += $bytes;
        if ($this->limits['bytes'] > 0 && $this->bytes > $this->limits['bytes']) {
            refuse('The archive has more bytes than an install may have (' . round($this->limits['bytes'] / (1 << 30), 2) . ' GB).');
        }
        require_no_bomb($this->bytes, $this->limits['packed']);
    }

    /** At most four times a second. */
    public function report(bool $isLast = false): void
    {
        $now = intdiv(hrtime(true), 250_000_000);
        if ($isLast || $now !== $this->told) {
            echo json_encode(['progress' => [$this->bytes, null]]), "\n";
        }
        $this->told = $now;
    }
}
