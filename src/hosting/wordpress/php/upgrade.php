<?php
/**
 * Upgrades or downgrades the database to the WordPress that contains this file. Loads no plugins. Prints the database versions
 * before and after, and that it has completed. With HOMEPORT_BARE=1 in the environment it loads no PHP of the website. With the argument
 * `only-other`, a database of the same version stays as it is.
 */
const WP_INSTALLING = true;
require __DIR__ . '/without-content.php';
require __DIR__ . '/load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

if (!is_blog_installed()) {
    fwrite(STDERR, "This database has no WordPress.\n");
    exit(1);
}
$before = (int) get_option('db_version');
if (in_array('only-other', $argv, true) && $before === (int) $wp_db_version) {
    echo "\n", '{"completed":true}', "\n";
    exit(0);
}
wp_upgrade();
if (!function_exists('wp_autoload_values_to_autoload')) {
    // WordPress 6.6 and later write other values; earlier versions would not autoload those options.
    $wpdb->query("UPDATE $wpdb->options SET autoload = 'yes' WHERE autoload IN ('on', 'auto', 'auto-on')");
    $wpdb->query("UPDATE $wpdb->options SET autoload = 'no' WHERE autoload IN ('off', 'auto-off')");
}
wp_cache_flush();
$after = (int) __get_option('db_version');
if ($after !== (int) $wp_db_version) {
    fwrite(STDERR, "The database is at version $after instead of $wp_db_version.\n");
    exit(1);
}
// Generated again at the next request, because another WordPress may have other rules.
delete_option('rewrite_rules');
delete_option('core_updater.lock');
echo json_encode(['before' => $before, 'after' => $after]), "\n";
echo "\n", '{"completed":true}', "\n";
