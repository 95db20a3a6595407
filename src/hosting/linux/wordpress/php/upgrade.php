<?php
/**
 * Brings the database to the WordPress that this file lies in, whether the one before was older or newer.
 * Plugins are not loaded. Writes the versions of the database before and after.
 */
const WP_INSTALLING = true;
require dirname(__DIR__) . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

if (!is_blog_installed()) {
    fwrite(STDERR, "There is no WordPress in this database.\n");
    exit(1);
}
$before = (int) get_option('db_version');
wp_upgrade();
if (!function_exists('wp_autoload_values_to_autoload')) {
    // WordPress 6.6 and later write these otherwise; an earlier one would no longer load such options at once.
    $wpdb->query("UPDATE $wpdb->options SET autoload = 'yes' WHERE autoload IN ('on', 'auto', 'auto-on')");
    $wpdb->query("UPDATE $wpdb->options SET autoload = 'no' WHERE autoload IN ('off', 'auto-off')");
}
wp_cache_flush();
$after = (int) __get_option('db_version');
if ($after !== (int) $wp_db_version) {
    fwrite(STDERR, "The database is at version $after instead of $wp_db_version.\n");
    exit(1);
}
// Made anew at the next request: another WordPress may have other rules.
delete_option('rewrite_rules');
delete_option('core_updater.lock');
echo json_encode(['before' => $before, 'after' => $after]), "\n";
