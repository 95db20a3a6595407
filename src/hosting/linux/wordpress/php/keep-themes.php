<?php
/**
 * Makes themes that are in use the website's own, before the WordPress that they came with goes. Arguments: folders of
 * themes; those that are not in use are left alone.
 */
const SHORTINIT = true;
require dirname(__DIR__) . '/wp-load.php';

$used = array_intersect(array_slice($argv, 1), [get_option('template'), get_option('stylesheet')]);
foreach ($used as $theme) {
    $place = WP_CONTENT_DIR . '/themes/' . $theme;
    if (!is_link($place)) {
        continue;
    }
    $copy = $place . '.' . bin2hex(random_bytes(4));
    copy_folder($place, $copy);
    if (!unlink($place) || !rename($copy, $place)) {
        fwrite(STDERR, "$place could not be replaced by a copy.\n");
        exit(1);
    }
}

function copy_folder(string $from, string $to): void
{
    if (!mkdir($to, 0755)) {
        fwrite(STDERR, "$to could not be made.\n");
        exit(1);
    }
    foreach (array_diff(scandir($from), ['.', '..']) as $name) {
        if (is_dir("$from/$name")) {
            copy_folder("$from/$name", "$to/$name");
        } elseif (!copy("$from/$name", "$to/$name")) {
            fwrite(STDERR, "$to/$name could not be written.\n");
            exit(1);
        }
    }
}
