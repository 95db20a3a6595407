<?php
/**
 * Runs due tasks, as the host does every few minutes. Fails only if PHP does.
 */
// Otherwise WordPress would email the owner about a fault that the host finds itself.
const WP_DISABLE_FATAL_ERROR_HANDLER = true;
ob_start(static fn() => '', 4096);
require (defined('HOMEPORT') ? HOMEPORT['root'] : dirname(__DIR__)) . '/wp-cron.php';
