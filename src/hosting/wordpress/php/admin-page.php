<?php
/**
 * Begins a page of wp-admin as the oldest administrator does, so that plugins that act only there do it now. Prints nothing. Fails only
 * if PHP does.
 */
const WP_ADMIN = true;
// Otherwise WordPress would mail the owner about a fault that the host finds itself.
const WP_DISABLE_FATAL_ERROR_HANDLER = true;
$_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = $_SERVER['REQUEST_URI'] = '/wp-admin/index.php';
ob_start(static fn() => '', 4096);
require dirname(__DIR__) . '/wp-load.php';
$homeport_found = get_users(['role' => 'administrator', 'orderby' => 'ID', 'number' => 1, 'fields' => 'ID']);
if ($homeport_found === []) {
    exit(0);
}
wp_set_current_user((int) reset($homeport_found));
require_once ABSPATH . 'wp-admin/includes/admin.php';
// They would ask wordpress.org.
foreach (['_maybe_update_core', '_maybe_update_plugins', '_maybe_update_themes'] as $homeport_check) {
    remove_action('admin_init', $homeport_check);
}
do_action('admin_init');
set_current_screen('dashboard');
do_action('admin_notices');
