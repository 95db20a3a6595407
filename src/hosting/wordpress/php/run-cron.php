<?php
/**
 * Runs due tasks of WordPress. Its last line is `next:` and the time of the next task in seconds, or nothing without any.
 */
register_shutdown_function(static function (): void {
    $times = function_exists('_get_cron_array') ? array_keys(_get_cron_array() ?: []) : [];
    echo "\nnext:", $times === [] ? '' : min($times);
});
require (defined('HOMEPORT') ? HOMEPORT['root'] : dirname(__DIR__)) . '/wp-cron.php';
