<?php
/**
 * Looks whether a failed update left a plugin or theme as it was, and then removes what it left elsewhere. Arguments: `plugin` or
 * `theme`, its file or folder, when the update began (seconds since the epoch). Prints `unchanged`.
 */
require __DIR__ . '/load.php';

// Plugins can change global variables.
(static function (string $kind, string $id, int $since): void {
    $is_file = $kind === 'plugin' && !str_contains($id, '/');
    $place = $kind === 'plugin' ? WP_PLUGIN_DIR . '/' . ($is_file ? $id : dirname($id)) : get_theme_root($id) . "/$id";
    $unchanged = $is_file ? homeport_is_before($place, $since) : homeport_is_folder_before($place, $since);
    if ($unchanged) {
        homeport_remove_new(WP_CONTENT_DIR . '/upgrade', $since);
        if (is_file(ABSPATH . '.maintenance') && !homeport_is_before(ABSPATH . '.maintenance', $since)) {
            unlink(ABSPATH . '.maintenance');
        }
    }
    echo "\n", json_encode(['unchanged' => $unchanged]), "\n";
})($argv[1], $argv[2], (int) $argv[3]);

/** By the time of the last change, which no program can set back. */
function homeport_is_before(string $path, int $since): bool
{
    $found = @lstat($path);
    return $found !== false && $found['ctime'] < $since;
}

/** The upgrader may have moved the folder away and back, which changes its own ctime but nothing in it. */
function homeport_is_folder_before(string $folder, int $since): bool
{
    $found = @stat($folder);
    if ($found === false || !is_dir($folder) || $found['mtime'] >= $since) {
        return false;
    }
    foreach (homeport_entries($folder, RecursiveIteratorIterator::SELF_FIRST) as $entry) {
        if (!homeport_is_before($entry->getPathname(), $since)) {
            return false;
        }
    }
    return true;
}

function homeport_remove_new(string $folder, int $since): void
{
    if (is_link($folder) || !is_dir($folder)) {
        return;
    }
    foreach (homeport_entries($folder, RecursiveIteratorIterator::CHILD_FIRST) as $entry) {
        $path = $entry->getPathname();
        if (is_dir($path) && !is_link($path)) {
            @rmdir($path);
        } elseif (!homeport_is_before($path, $since)) {
            @unlink($path);
        }
    }
}

function homeport_entries(string $folder, int $order): RecursiveIteratorIterator
{
    $inner = new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS);
    return new RecursiveIteratorIterator($inner, $order);
}
