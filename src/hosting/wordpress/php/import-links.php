<?php
/**
 * Decides about the links of an archive before anything is written. No link exists while files are written, so none is ever followed.
 * See import-unpack.php.
 */
/** Links that one path may lead through. */
const MOST_STEPS = 40;
const MOST_OWN_LINKS = 10_000;
/** Path segments that all links together may lead through: some seconds of processor time. Real archives need a thousandth. */
const MOST_LINK_PARTS = 10_000_000;

/**
 * The links in `wp-content` of a website.
 *
 * - `kept`: paths in `wp-content` with the path there that they lead to.
 * - `copied`: hard links in the same form.
 * - `placed`: paths of the archive whose content also belongs to places in `wp-content`, because a link leads to it.
 * - `skipped`: links that lead out of the website, or around in a circle.
 *
 * @return array{kept: array<string, string>, copied: array<string, string>, placed: array<string, list<string>>, skipped: list<string>}
 */
function decided_links(array $seen, string $root): array
{
    $content = $root === '' ? 'wp-content' : "$root/wp-content";
    // An account has more than the website. In other archives, all was packed for it.
    $boundary = is_account($seen) ? $root : '';
    $decided = ['kept' => [], 'copied' => [], 'placed' => [], 'skipped' => []];
    $own = array_filter($seen['links'], static fn($path) => is_within((string) $path, $content), ARRAY_FILTER_USE_KEY);
    if (count($own) > MOST_OWN_LINKS) {
        refuse('The website has more than ' . number_format(MOST_OWN_LINKS) . ' links. Pack it again with their files: tar --dereference.');
    }
    foreach ($own as $path => $link) {
        $path = (string) $path;
        $place = ltrim(substr($path, strlen($content)), '/');
        if (in_array($place, DROP_INS, true)) {
            continue;
        }
        $found = target_of($path, $link, $seen['links'], $content);
        $isHard = $link['type'] === 'hard link';
        if ($found === null || !is_within($found, $boundary) || is_within($path, $found)) {
            $decided['skipped'][] = $path;
        } elseif (is_within($found, $content) && $found !== $content) {
            $decided[$isHard ? 'copied' : 'kept'][$place] = ltrim(substr($found, strlen($content)), '/');
        } else {
            $decided['placed'][$found][] = $place;
        }
    }
    return $decided;
}

/** Whether a path is a folder or in it. */
function is_within(string $path, string $folder): bool
{
    return $folder === '' || $path === $folder || str_starts_with($path, "$folder/");
}

/** The path in the archive that a link leads to, through all other links; null if that is not in the archive. */
function target_of(string $path, array $link, array $links, string $content): ?string
{
    $target = $link['target'];
    if (preg_match('//u', $target) !== 1 || preg_match('/[\x00-\x1f\x7f]/', $target) === 1 || $target === '' || strlen($target) > LONGEST_TARGET) {
        return null;
    }
    if ($link['type'] === 'hard link') {
        // From the top of the archive, as tar names its entries.
        return plain_path($link['prefix'] === '' ? $target : "{$link['prefix']}/$target");
    }
    $steps = 0;
    return resolved_path($path, $links, $content, $steps);
}

/** A path without links and dots; null if it leads out of the archive or around in a circle. */
function resolved_path(string $path, array $links, string $content, int &$steps): ?string
{
    // The next part is the last.
    $left = array_reverse(explode('/', $path));
    $at = [];
    while ($left !== []) {
        count_parts(1 + count($at));
        $part = array_pop($left);
        if ($part === '' || $part === '.') {
            continue;
        }
        if ($part === '..') {
            if ($at === []) {
                return null;
            }
            array_pop($at);
            continue;
        }
        $here = implode('/', [...$at, $part]);
        $link = $links[$here] ?? null;
        if ($link === null || $link['type'] !== 'link') {
            $at[] = $part;
            continue;
        }
        if (++$steps > MOST_STEPS) {
            return null;
        }
        $target = $link['target'];
        if (str_starts_with($target, '/')) {
            // Paths of the former host: only those into the own wp-content can be recognized.
            if (preg_match('~/wp-content(/.*)?$~', $target, $match) !== 1) {
                return null;
            }
            $at = [];
            $target = $content . ($match[1] ?? '');
            if (is_within($here, $target)) {
                return null;
            }
        }
        array_push($left, ...array_reverse(explode('/', $target)));
    }
    return implode('/', $at);
}

/** Long targets and links to links would take hours. */
function count_parts(int $parts): void
{
    static $all = 0;
    $all += $parts;
    if ($all > MOST_LINK_PARTS) {
        refuse('The links of the archive lead through too many folders. Pack it again with their files: tar --dereference.');
    }
}

/** A path without dots; null if it leads out. */
function plain_path(string $path): ?string
{
    $steps = 0;
    return str_starts_with($path, '/') ? null : resolved_path($path, [], '', $steps);
}

/**
 * Makes the links that stay within `wp-content`, after all files. On a host without links, they become copies. Returns those that lead
 * nowhere.
 */
function make_links(string $folder, array $decided, Closure $copy): array
{
    $failed = [];
    $canLink = $decided['kept'] === [] || can_link($folder);
    foreach ($decided['copied'] as $place => $target) {
        is_plain_file("$folder/$target", $folder) && $copy("$folder/$target", "$folder/$place") || $failed[] = $place;
    }
    foreach ($decided['kept'] as $place => $target) {
        $path = "$folder/$place";
        $parent = dirname($path);
        $isFree = (is_dir($parent) || @mkdir($parent, 0755, true)) && realpath($parent) === $parent && !file_exists($path) && !is_link($path);
        if ($isFree && !$canLink) {
            copy_all("$folder/$target", $path, $copy) || $failed[] = $place;
            continue;
        }
        if (!$isFree || !file_exists("$folder/$target") || !symlink(relative_path(dirname((string) $place), $target), $path)) {
            $failed[] = $place;
            continue;
        }
        if (!str_starts_with((string) realpath($path), "$folder/")) {
            unlink($path);
            $failed[] = $place;
        }
    }
    return $failed;
}

/** PHP as WebAssembly makes no links. */
function can_link(string $folder): bool
{
    $probe = dirname($folder) . '/link-probe';
    return @symlink($folder, $probe) && unlink($probe);
}

/** Copies a file or a folder, whose copies count as files of the archive do. False without something to copy. */
function copy_all(string $from, string $to, Closure $copy): bool
{
    if (is_file($from)) {
        return $copy($from, $to);
    }
    $names = is_dir($from) && @mkdir($to, 0755) ? scandir($from) : false;
    foreach ($names ?: [] as $name) {
        if ($name !== '.' && $name !== '..') {
            copy_all("$from/$name", "$to/$name", $copy);
        }
    }
    return $names !== false;
}

function is_plain_file(string $path, string $folder): bool
{
    return is_file($path) && !is_link($path) && str_starts_with((string) realpath($path), "$folder/");
}

/** The path from one folder to another path, both below the same folder. */
function relative_path(string $from, string $to): string
{
    return str_repeat('../', $from === '.' ? 0 : 1 + substr_count($from, '/')) . $to;
}
