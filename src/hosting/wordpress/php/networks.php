<?php
/**
 * Refuses to make a network (multisite) of a website, by WP-CLI or in wp-admin, before anything changes. This host does not serve
 * networks: their addresses, schedules and copies would be wrong. Websites that are networks already stay as they are.
 */
const HOMEPORT_NO_NETWORKS = 'This host does not run WordPress networks (multisite). Nothing was changed. Create an install for each website instead.';

$GLOBALS['wp_filter']['muplugins_loaded'][0][] = ['function' => static function (): void {
    if (!class_exists('WP_CLI', false)) {
        return;
    }
    $words = array_slice(WP_CLI::get_runner()->arguments, 0, 2);
    if ($words === ['core', 'multisite-convert'] || $words === ['core', 'multisite-install']) {
        WP_CLI::error(HOMEPORT_NO_NETWORKS);
    }
}, 'accepted_args' => 0];

$GLOBALS['wp_filter']['admin_init'][0][] = ['function' => static function (): void {
    if (defined('WP_INSTALLING_NETWORK') && !is_multisite()) {
        wp_die(HOMEPORT_NO_NETWORKS, '', ['response' => 403, 'back_link' => true]);
    }
}, 'accepted_args' => 0];
