<?php
/**
 * Signs in the user of a login that create-login.php stored, once. settings.php loads it at the address of logins, before
 * WordPress and its plugins.
 */
if (!defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    header('Cache-Control: no-store');
    header('Referrer-Policy: no-referrer');
    header('X-Robots-Tag: noindex');
    // A browser that guesses the visitor's next step must not use up the login.
    if (str_contains(($_SERVER['HTTP_SEC_PURPOSE'] ?? '') . ($_SERVER['HTTP_PURPOSE'] ?? ''), 'prefetch')) {
        http_response_code(503);
        exit;
    }
    $token = is_string($_GET['token'] ?? null) ? $_GET['token'] : '';
    // Plugins must not see the token.
    $_GET = $_REQUEST = [];
    $_SERVER['REQUEST_URI'] = strtok($_SERVER['REQUEST_URI'], '?');
    $_SERVER['QUERY_STRING'] = '';
    define('DONOTCACHEPAGE', true);
    // WordPress takes these from before its start.
    $early = static function (string $hook, callable $function): void {
        $GLOBALS['wp_filter'][$hook][PHP_INT_MIN][] = ['function' => $function, 'accepted_args' => 1];
    };
    // The database is connected, and no plugin has started: none obeys a stranger.
    $early('enable_loading_object_cache_dropin', static function ($enabled) use ($token) {
        if (homeport_stored_login($token) === null) {
            homeport_refuse_login();
        }
        return $enabled;
    });
    // Before plugins that hide wp-admin or close the website.
    $early('wp_loaded', static fn() => homeport_log_in($token));
})();

/** Ends the request. WordPress may not have started. */
function homeport_refuse_login(): never
{
    $login = htmlspecialchars(WP_SITEURL . '/wp-login.php');
    http_response_code(403);
    header('Content-Type: text/html; charset=utf-8');
    echo '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        '<title>Sign-in failed</title><style>body{font:1rem/1.5 sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>',
        '<h1>Sign-in failed</h1>',
        '<p>This link was used, or it has expired. Links sign in once, within a minute. Create a new one.</p>',
        "<p><a href=\"$login\">Sign in with a password</a></p>";
    exit;
}

function homeport_log_in(string $token): void
{
    $user = homeport_user_of_login($token);
    if ($user === null) {
        homeport_refuse_login();
    }
    wp_set_current_user($user->ID);
    wp_set_auth_cookie($user->ID);
    // The user need not know the password of visitors.
    $seconds = 12 * HOUR_IN_SECONDS;
    $pass = homeport_pass($seconds);
    if ($pass !== null) {
        setcookie('homeport_pass', $pass, [
            'expires' => time() + $seconds,
            'path' => '/',
            'secure' => is_ssl(),
            'httponly' => true,
            'samesite' => 'Lax',
        ]);
    }
    // Plugins record the sign-in here, and ask for a second factor.
    do_action('wp_login', $user->user_login, $user);
    wp_redirect(get_dashboard_url($user->ID));
    exit;
}

/** The database is the install's own: a copy of the row counts in no other install. */
function homeport_login_option(string $token): string
{
    return 'homeport_login_' . hash('sha256', HOMEPORT['database'] . ' ' . $token);
}

/** The id of the user whom a token signs in; null if it has expired or is unknown. */
function homeport_stored_login(string $token): ?int
{
    global $wpdb;
    $options = $wpdb->base_prefix . 'options';
    $query = $wpdb->prepare("SELECT option_value FROM $options WHERE option_name = %s", homeport_login_option($token));
    $stored = $wpdb->get_var($query);
    if ($stored === null) {
        return null;
    }
    [$expires, $id] = array_map('intval', explode(' ', $stored . ' '));
    return time() < $expires ? $id : null;
}

/** Takes the login of a token. Of several requests at once, the one that deletes the row gets it. */
function homeport_user_of_login(string $token): ?WP_User
{
    global $wpdb;
    $options = $wpdb->base_prefix . 'options';
    $id = homeport_stored_login($token);
    $delete = $wpdb->prepare("DELETE FROM $options WHERE option_name = %s", homeport_login_option($token));
    if ($id === null || $wpdb->query($delete) !== 1) {
        return null;
    }
    return get_user_by('id', $id) ?: null;
}
