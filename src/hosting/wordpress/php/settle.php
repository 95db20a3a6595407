<?php
/**
 * Does what a new WordPress does first: schedules its tasks, creates its rewrite rules, and shows its first page, so that no
 * visitor waits for it. Fails if WordPress shows another page, such as one of an error, or an incomplete one.
 */
register_shutdown_function(static function (): void {
    $page = '';
    while (ob_get_level() > 0) {
        $page = ob_get_clean() . $page;
    }
    if (!defined('HOMEPORT_SHOWN') || !str_contains($page, '</html>')) {
        fwrite(STDERR, "WordPress shows no home page.\n");
        exit(1);
    }
});
ob_start();
require __DIR__ . '/load.php';
add_filter('pre_http_request', static fn() => new WP_Error('none', 'Nothing is asked while WordPress is installed.'));
flush_rewrite_rules(false);
const WP_USE_THEMES = true;
wp();
require ABSPATH . WPINC . '/template-loader.php';
const HOMEPORT_SHOWN = true;
