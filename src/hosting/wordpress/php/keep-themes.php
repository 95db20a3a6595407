<?php
/**
 * Copies themes in use into the website before their WordPress is removed. Arguments: theme folders; unused ones are left
 * alone. Prints that it has completed.
 */
const SHORTINIT = true;
require __DIR__ . '/load.php';

$used = array_intersect(array_slice($argv, 1), [get_option('template'), get_option('stylesheet')]);
foreach ($used as $theme) {
    $place = WP_CONTENT_DIR . '/themes/' . $theme;
    if (!is_link($place)) {
        continue;
    }
    $copy = $place . '.' . bin2hex(random_bytes(4));
    copy_folder($place, $copy);
    if (!unlink($place) || !rename($copy, $place)) {
        fwrite(STDERR, "Could not replace $place by a copy.\n");
        exit(1);
    }
}
echo "\n", '{"completed":true}', "\n";

function copy_folder(string $from, string $to): void
{
    if (!mkdir($to, 0755)) {
        fwrite(STDERR, "Could not create $to.\n");
        exit(1);
    }
    foreach (array_diff(scandir($from), ['.', '..']) as $name) {
        if (is_dir("$from/$name")) {
            copy_folder("$from/$name", "$to/$name");
        } elseif (!copy("$from/$name", "$to/$name")) {
            fwrite(STDERR, "Could not write $to/$name.\n");
            exit(1);
        }
    }
}
