<?php
/**
 * What this host has WordPress do otherwise than it would by itself. Loaded by the website's mu-plugins/homeport.php.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    // Mails come from the website's own name, whichever of its names the visitor used.
    $sender = preg_replace('/^www\./', '', parse_url(HOMEPORT['origin'], PHP_URL_HOST));
    add_filter('wp_mail_from', static fn($from) => preg_match('/^wordpress@/i', $from) ? "wordpress@$sender" : $from);

    // WordPress itself is the host's to update: no offer that could not be taken.
    add_filter('pre_site_transient_update_core', static fn() => (object) [
        'last_checked' => time(),
        'version_checked' => homeport_wordpress_version(),
        'updates' => [],
    ]);
    add_filter('map_meta_cap', static fn($needed, $capability) =>
        $capability === 'update_core' ? ['do_not_allow'] : $needed, 10, 2);

    // Themes that came with WordPress are links into it, and are updated along with it.
    add_filter('site_transient_update_themes', static function ($updates) {
        foreach (array_keys((array) ($updates->response ?? [])) as $theme) {
            if (is_link(WP_CONTENT_DIR . '/themes/' . $theme)) {
                unset($updates->response[$theme]);
            }
        }
        return $updates;
    });

    // Since WordPress 6.8 passwords are kept in a form that earlier ones cannot check. After a switch back people can still sign in.
    add_filter('check_password', static function ($right, $password, $hash) {
        if ($right || !str_starts_with($hash, '$wp$2y$') || function_exists('wp_password_needs_rehash')) {
            return $right;
        }
        return password_verify(base64_encode(hash_hmac('sha384', $password, 'wp-sha384', true)), substr($hash, 3));
    }, 10, 3);
})();

/** The version as its file says it: a plugin may have changed the global variable. */
function homeport_wordpress_version(): string
{
    static $version = null;
    if ($version === null) {
        require ABSPATH . WPINC . '/version.php';
        $version = $wp_version;
    }
    return $version;
}
