<?php
/**
 * Makes the document root of the website WordPress's ABSPATH. Without this, wp-load.php takes its own folder, which is this core: all
 * websites share it, and none can write there. Until the document root links to this core, ABSPATH is the core: an update of
 * WordPress upgrades the database before the links follow.
 */
require_once __DIR__ . '/website.php';

(static function (): void {
    foreach (['wp-admin', 'wp-includes', 'wp-settings.php'] as $name) {
        if (realpath(HOMEPORT['root'] . "/$name") !== dirname(__DIR__) . "/$name") {
            return;
        }
    }
    defined('ABSPATH') || define('ABSPATH', HOMEPORT['root'] . '/');
})();
