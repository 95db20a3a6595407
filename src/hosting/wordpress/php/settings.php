<?php
/**
 * Settings shared by all websites of this host. HOMEPORT, in homeport.php above the document root, holds a website's own values.
 * These settings come before the website's wp-config.php, so that an imported configuration cannot select another
 * database.
 */
defined('HOMEPORT_LIBRARY') || define('HOMEPORT_LIBRARY', __DIR__);

(static function (): void {
    $own = parse_url(HOMEPORT['origin']);
    $own_host = $own['host'] . (isset($own['port']) ? ':' . $own['port'] : '');
    if (PHP_SAPI === 'cli') {
        $_SERVER['HTTP_HOST'] ??= $own_host;
        $_SERVER['SERVER_NAME'] ??= $own['host'];
        $_SERVER['SERVER_PROTOCOL'] ??= 'HTTP/1.1';
        $_SERVER['REQUEST_METHOD'] ??= 'GET';
        $_SERVER['REQUEST_URI'] ??= '/';
        $_SERVER['REMOTE_ADDR'] ??= '127.0.0.1';
        if ($own['scheme'] === 'https') {
            $_SERVER['HTTPS'] ??= 'on';
        }
    }
    // A website answers under each of its names, by the scheme of the visit. The web server admits no other names.
    $host = strtolower($_SERVER['HTTP_HOST'] ?? '');
    if (preg_match('/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/D', $host) !== 1) {
        $host = $own_host;
        $_SERVER['HTTP_HOST'] = $own_host;
    }
    $secure = in_array(strtolower($_SERVER['HTTPS'] ?? ''), ['on', '1'], true);
    $origin = ($secure ? 'https://' : 'http://') . $host;
    $database = PHP_SAPI === 'cli' ? getenv('HOMEPORT_DATABASE') : false;

    // The web server does not count this as a login. WordPress would obey an action in the body instead.
    if (basename($_SERVER['SCRIPT_NAME'] ?? '') === 'wp-login.php' && ($_GET['action'] ?? null) === 'postpass') {
        unset($_POST['action']);
    }

    $settings = [
        'DB_NAME' => $database === false ? HOMEPORT['database'] : $database,
        'DB_USER' => HOMEPORT['user'],
        // The socket identifies the user: there is no password that could leak.
        'DB_PASSWORD' => '',
        'DB_HOST' => 'localhost:' . HOMEPORT['socket'],
        'DB_CHARSET' => 'utf8mb4',
        'DB_COLLATE' => '',
        'WP_HOME' => $origin,
        'WP_SITEURL' => $origin,
        'WP_CONTENT_DIR' => HOMEPORT['root'] . '/wp-content',
        'WP_CONTENT_URL' => $origin . '/wp-content',
        // WordPress itself is read-only, and the host switches it. Plugins and themes update themselves as usual.
        'WP_AUTO_UPDATE_CORE' => false,
        // The host runs due tasks, so that websites without visitors run them too.
        'DISABLE_WP_CRON' => true,
        'FS_METHOD' => 'direct',
    ];
    if ((HOMEPORT['engine'] ?? 'mysql') === 'sqlite') {
        $settings = [
            'DB_ENGINE' => 'sqlite',
            'DB_DIR' => HOMEPORT['database_folder'],
            'DB_FILE' => 'wordpress.sqlite',
            // Threads have no shared memory for a write-ahead log.
            'SQLITE_JOURNAL_MODE' => 'TRUNCATE',
            'DB_USER' => '',
            'DB_HOST' => '',
        ] + $settings;
    }
    foreach ($settings as $name => $value) {
        if (!defined($name)) {
            define($name, $value);
        }
    }
})();

// WordPress reads the metadata of its blocks from one file, by the path below ABSPATH. Blocks register by the path that PHP sees,
// which links make another one, and each would read a file of its own.
$GLOBALS['wp_filter']['init'][9][] = ['function' => static function (): void {
    $blocks = realpath(ABSPATH . WPINC . '/blocks');
    if ($blocks !== ABSPATH . WPINC . '/blocks' && function_exists('wp_register_block_metadata_collection')) {
        wp_register_block_metadata_collection($blocks, "$blocks/blocks-json.php");
    }
}, 'accepted_args' => 0];

if (PHP_SAPI !== 'cli') {
    require_once __DIR__ . '/closed.php';
    // WordPress redirects to its installation before it loads plugins, so the filter is there before WordPress is.
    $GLOBALS['wp_filter']['wp_redirect'][10]['homeport'] = ['function' => 'homeport_refuse_installation', 'accepted_args' => 1];
}

/**
 * A pass through the password that visitors of this website enter; null without one. See hosting/policy/visitor-pass.ts.
 */
function homeport_pass(int $seconds): ?string
{
    $key = HOMEPORT['pass'] ?? null;
    $until = time() + $seconds;
    return $key === null ? null : $until . '.' . hash_hmac('sha1', "pass $until", $key);
}

require __DIR__ . '/networks.php';
if (PHP_SAPI !== 'cli' && strtok($_SERVER['REQUEST_URI'] ?? '', '?') === '/.well-known/homeport-login') {
    require __DIR__ . '/login.php';
}
// The edge of a host with MySQL runs another program at this path.
if (PHP_SAPI !== 'cli' && (HOMEPORT['engine'] ?? 'mysql') === 'sqlite' && str_starts_with($_SERVER['REQUEST_URI'] ?? '', '/.well-known/homeport-database/')) {
    require __DIR__ . '/phpmyadmin.php';
}
if (PHP_SAPI !== 'cli' && is_string($_SERVER['HTTP_X_HOMEPORT_PROBE'] ?? null)) {
    require __DIR__ . '/probe.php';
}
