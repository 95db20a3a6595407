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
    // Plugins start before the token is checked. They must neither obey a stranger nor see the token.
    $_GET = $_REQUEST = [];
    $_SERVER['REQUEST_URI'] = strtok($_SERVER['REQUEST_URI'], '?');
    $_SERVER['QUERY_STRING'] = '';
    define('DONOTCACHEPAGE', true);
    // WordPress takes these from before its start. Before plugins that hide wp-admin or close the website.
    $GLOBALS['wp_filter']['wp_loaded'][PHP_INT_MIN][] = [
        'function' => static fn() => homeport_log_in($token),
        'accepted_args' => 0,
    ];
})();

function homeport_log_in(string $token): void
{
    $user = homeport_user_of_login($token);
    if ($user === null) {
        nocache_headers();
        header('Cache-Control: no-store');
        wp_die(
            'This link was used, or it has expired. Links sign in once, within a minute. Create a new one.',
            'Sign-in failed',
            ['response' => 403, 'link_url' => wp_login_url(), 'link_text' => 'Sign in with a password'],
        );
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

/** Takes the login of a token. Of several requests at once, the one that deletes the row gets it. */
function homeport_user_of_login(string $token): ?WP_User
{
    global $wpdb;
    $options = $wpdb->base_prefix . 'options';
    // The database is the install's own: a copy of the row counts in no other install.
    $name = 'homeport_login_' . hash('sha256', HOMEPORT['database'] . ' ' . $token);
    $stored = $wpdb->get_var($wpdb->prepare("SELECT option_value FROM $options WHERE option_name = %s", $name));
    if ($stored === null || $wpdb->query($wpdb->prepare("DELETE FROM $options WHERE option_name = %s", $name)) !== 1) {
        return null;
    }
    [$expires, $id] = array_map('intval', explode(' ', $stored . ' '));
    return time() < $expires ? (get_user_by('id', $id) ?: null) : null;
}
