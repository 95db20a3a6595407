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

    homeport_tell_length();

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

/**
 * Has a page tell its length, so that the web server sends the one that it keeps in one piece: a quarter more of them a second. A page that
 * somebody sends in parts, or that is longer than half a mebibyte, goes out as it always did.
 */
function homeport_tell_length(): void
{
    // What is below ours must not change the page, and who asks for something else than a page may get a file, or wait for news.
    $method = $_SERVER['REQUEST_METHOD'] ?? '';
    if (PHP_SAPI !== 'fpm-fcgi' || $method !== 'GET' || is_admin() || array_diff(ob_list_handlers(), ['default output handler'])) {
        return;
    }
    $over = false;
    $tell = static function (string $page, int $phase) use (&$over): string {
        $whole = $phase & PHP_OUTPUT_HANDLER_START && $phase & PHP_OUTPUT_HANDLER_FINAL && !($phase & PHP_OUTPUT_HANDLER_CLEAN);
        if ($over && $whole && $page !== '' && http_response_code() === 200 && !headers_sent()) {
            header('Content-Length: ' . strlen($page));
        }
        return $page;
    };
    ob_start($tell, 512 * 1024);
    $own = ob_get_level();
    // WordPress ends all buffers before what plugins may still write. Ours is left to PHP, which ends it when there is nothing after it.
    remove_action('shutdown', 'wp_ob_end_flush_all', 1);
    add_action('shutdown', static function () use ($own): void {
        while (ob_get_level() > $own && @ob_end_flush()) {
            continue;
        }
    }, 1);
    add_action('shutdown', static function () use (&$over): void {
        register_shutdown_function(static function () use (&$over): void {
            $over = true;
        });
    }, PHP_INT_MAX);
}
