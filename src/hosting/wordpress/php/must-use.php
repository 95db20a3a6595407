<?php
/**
 * Adapts WordPress to this host. Loaded by the website's mu-plugins/homeport.php.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    // Mails come from the website's main name, whichever name the visitor used.
    $sender = preg_replace('/^www\./', '', parse_url(HOMEPORT['origin'], PHP_URL_HOST));
    add_filter('wp_mail_from', static fn($from) => preg_match('/^wordpress@/i', $from) ? "wordpress@$sender" : $from);

    // The host updates WordPress itself, so do not offer updates.
    add_filter('pre_site_transient_update_core', static fn() => (object) [
        'last_checked' => time(),
        'version_checked' => homeport_wordpress_version(),
        'updates' => [],
    ]);
    add_filter('map_meta_cap', static fn($needed, $capability) =>
        $capability === 'update_core' ? ['do_not_allow'] : $needed, 10, 2);

    // Themes that came with WordPress are links into it, and are updated with it.
    add_filter('site_transient_update_themes', static function ($updates) {
        foreach (array_keys((array) ($updates->response ?? [])) as $theme) {
            if (is_link(WP_CONTENT_DIR . '/themes/' . $theme)) {
                unset($updates->response[$theme]);
            }
        }
        return $updates;
    });

    // Site Health, editors and queues of plugins request their own website, which asks visitors for a password.
    add_filter('http_request_args', static function ($arguments, $url) {
        $host = strtolower((string) parse_url($url, PHP_URL_HOST));
        $own = [parse_url(HOMEPORT['origin'], PHP_URL_HOST), strtolower((string) parse_url(WP_HOME, PHP_URL_HOST))];
        $pass = in_array($host, $own, true) ? homeport_pass(MINUTE_IN_SECONDS) : null;
        if ($pass !== null && is_array($arguments['headers'] ?? [])) {
            $arguments['headers']['X-Homeport-Pass'] = $pass;
        }
        return $arguments;
    }, 10, 2);

    require __DIR__ . '/disk-full.php';

    homeport_buffer_page();

    // Websites whose values an older host wrote have no socket yet.
    if (isset(HOMEPORT['purge']) && !wp_installing()) {
        require __DIR__ . '/purge.php';
    }
    require __DIR__ . '/watch-changes.php';

    // Versions before 6.8 cannot check passwords stored since 6.8. This lets users sign in after a switch back.
    add_filter('check_password', static function ($right, $password, $hash) {
        if ($right || !str_starts_with($hash, '$wp$2y$') || function_exists('wp_password_needs_rehash')) {
            return $right;
        }
        return password_verify(base64_encode(hash_hmac('sha384', $password, 'wp-sha384', true)), substr($hash, 3));
    }, 10, 3);
})();

/** The version from WordPress's file: a plugin may have changed the global variable. */
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
 * Holds a page back, up to half a mebibyte, to send two headers. Its length lets the web server serve a cached page in one piece: a
 * quarter more requests per second. And plugins keep a page out of caches by `DONOTCACHEPAGE`, often while it is made.
 */
function homeport_buffer_page(): void
{
    // Buffers below ours must not change the page, and other requests may send files or wait for events.
    $method = $_SERVER['REQUEST_METHOD'] ?? '';
    if (!in_array(PHP_SAPI, ['fpm-fcgi', 'cgi-fcgi'], true) || $method !== 'GET' || is_admin() || array_diff(ob_list_handlers(), ['default output handler'])) {
        return;
    }
    $over = false;
    $send = static function (string $page, int $phase) use (&$over): string {
        if (!headers_sent() && defined('DONOTCACHEPAGE') && DONOTCACHEPAGE) {
            header('X-Accel-Expires: 0');
        }
        $whole = $phase & PHP_OUTPUT_HANDLER_START && $phase & PHP_OUTPUT_HANDLER_FINAL && !($phase & PHP_OUTPUT_HANDLER_CLEAN);
        if ($over && $whole && $page !== '' && http_response_code() === 200 && !headers_sent()) {
            header('Content-Length: ' . strlen($page));
        }
        return $page;
    };
    ob_start($send, 512 * 1024);
    $own = ob_get_level();
    // WordPress ends all buffers before plugins may write their last output. PHP ends ours when nothing follows.
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
