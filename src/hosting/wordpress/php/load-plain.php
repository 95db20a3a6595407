<?php
/**
 * Loads WordPress without the website's plugins and theme, so that a broken one does not matter. With HOMEPORT_BARE=1 in the
 * environment it also leaves out the drop-ins for caching.
 */
const WP_INSTALLING = true;
// WordPress loads must-use plugins whatever happens, so they are looked for in a folder that does not exist.
const WPMU_PLUGIN_DIR = __DIR__ . '/no-plugins';
(static function (): void {
    $answer = static fn(mixed $value): array => [['function' => static fn() => $value, 'accepted_args' => 0]];
    // WordPress takes these from before its start.
    $GLOBALS['wp_filter']['pre_site_option_active_sitewide_plugins'][10] = $answer([]);
    if (getenv('HOMEPORT_BARE') === '1') {
        $GLOBALS['wp_filter']['enable_loading_object_cache_dropin'][10] = $answer(false);
        $GLOBALS['wp_filter']['enable_loading_advanced_cache_dropin'][10] = $answer(false);
    }
})();
require __DIR__ . '/load.php';
remove_all_filters('pre_site_option_active_sitewide_plugins');
// WordPress asks for no updates while it is being installed, and reads transients from another place.
wp_installing(false);
