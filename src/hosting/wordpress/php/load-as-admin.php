<?php
/**
 * Loads WordPress as wp-admin does for the oldest administrator: plugins register some of their hooks only there, while they load or at
 * `admin_init`. A plugin may end PHP in it, by a redirect or an error.
 */
const WP_ADMIN = true;
$_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = $_SERVER['REQUEST_URI'] = '/wp-admin/plugins.php';
require_once __DIR__ . '/oldest-administrator.php';
// WordPress takes it from before its start.
$GLOBALS['wp_filter']['determine_current_user'][PHP_INT_MAX][] = [
    'function' => static function (mixed $user): mixed {
        static $id = null;
        return $id ??= (int) (homeport_oldest_administrator()->ID ?? 0) ?: $user;
    },
    'accepted_args' => 1,
];
require __DIR__ . '/load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';
// They ask the makers of WordPress for updates.
foreach (['_maybe_update_core', '_maybe_update_plugins', '_maybe_update_themes'] as $homeport_check) {
    remove_action('admin_init', $homeport_check);
}
do_action('admin_init');
