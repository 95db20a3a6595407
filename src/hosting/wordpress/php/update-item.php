<?php
/**
 * Updates one plugin or theme with WordPress's own upgrader. Arguments: `plugin` or `theme`, its file or folder. Prints the installed
 * version, or why the update failed.
 */
require __DIR__ . '/load.php';
foreach (['file', 'misc', 'plugin', 'theme', 'update', 'class-wp-upgrader'] as $part) {
    require_once ABSPATH . "wp-admin/includes/$part.php";
}
// They would ask wordpress.org again, once for each.
foreach (['wp_version_check', 'wp_update_plugins', 'wp_update_themes'] as $check) {
    remove_action('upgrader_process_complete', $check);
}
// Plugins can change global variables.
(static function (string $kind, string $id): void {
    $skin = new WP_Ajax_Upgrader_Skin();
    $upgrader = $kind === 'plugin' ? new Plugin_Upgrader($skin) : new Theme_Upgrader($skin);
    $failure = 'it is no longer installed';
    if (file_exists($kind === 'plugin' ? WP_PLUGIN_DIR . "/$id" : get_theme_root($id) . "/$id/style.css")) {
        homeport_require_offer($kind, $id);
        $failure = homeport_failure($skin, $upgrader->bulk_upgrade([$id]), $id);
    }
    $version = $failure === null ? homeport_version($kind, $id) : null;
    $result = $failure === null ? ['version' => $version] : ['failed' => $failure];
    echo "\n", json_encode($result, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
})(...array_slice($_SERVER['argv'], 1));

/** The upgrader reads WordPress's last answer, which the object cache may have lost. */
function homeport_require_offer(string $kind, string $id): void
{
    $offers = get_site_transient("update_{$kind}s");
    if (!isset($offers->response[$id])) {
        delete_site_transient("update_{$kind}s");
        $kind === 'plugin' ? wp_update_plugins() : wp_update_themes();
    }
}

function homeport_failure(WP_Ajax_Upgrader_Skin $skin, $results, string $id): ?string
{
    if (is_wp_error($skin->result)) {
        return homeport_line($skin->result->get_error_message());
    }
    if ($skin->get_errors()->has_errors()) {
        return homeport_line($skin->get_error_messages());
    }
    if ($results === false) {
        return 'WordPress cannot write its files';
    }
    // True means that it was up to date already, which the version tells.
    return ($results[$id] ?? null) ? null : 'WordPress gave no reason';
}

function homeport_version(string $kind, string $id): string
{
    clearstatcache();
    if ($kind === 'plugin') {
        return get_plugin_data(WP_PLUGIN_DIR . '/' . $id, false, false)['Version'];
    }
    return get_file_data(get_theme_root($id) . "/$id/style.css", ['Version' => 'Version'])['Version'];
}

function homeport_line(string $text): string
{
    return mb_substr(trim(preg_replace('/[\x00-\x1f\x7f]+/', ' ', wp_strip_all_tags($text))), 0, 300);
}
