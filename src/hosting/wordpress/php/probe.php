<?php
/**
 * Shows a page to the host as a visitor or an administrator gets it. settings.php loads it for requests with a token that
 * website-state.php stored, before WordPress and its plugins. Nothing signs in: the session of the administrator exists in this request
 * only, so that no plugin records it and nothing is left to remove.
 */
if (!defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    [$token, $as] = explode(' ', $_SERVER['HTTP_X_HOMEPORT_PROBE'] . ' ');
    // Plugins must not see the token.
    unset($_SERVER['HTTP_X_HOMEPORT_PROBE']);
    if (preg_match('/^[\w-]{43}$/D', $token) !== 1) {
        return;
    }
    $user = null;
    // Before WordPress registers its own, which would email the owner about a fault that the host finds itself.
    register_shutdown_function(static function () use (&$user): void {
        if ($user !== null) {
            homeport_end_probe();
        }
    });
    // WordPress takes this from before its start. The database is connected, and no plugin has started.
    $GLOBALS['wp_filter']['enable_loading_object_cache_dropin'][PHP_INT_MIN][] = [
        'function' => static function ($enabled) use ($token, $as, &$user) {
            $user = homeport_probing_user($token);
            if ($user !== null && $user > 0 && $as === 'administrator') {
                homeport_act_as($user, $token);
            }
            return $enabled;
        },
        'accepted_args' => 1,
    ];
})();

/** The administrator whom a token stands for, 0 without one; null if it has expired or is unknown. */
function homeport_probing_user(string $token): ?int
{
    global $wpdb;
    $options = $wpdb->base_prefix . 'options';
    $name = 'homeport_probe_' . hash('sha256', HOMEPORT['database'] . ' ' . $token);
    $stored = $wpdb->get_var($wpdb->prepare("SELECT option_value FROM $options WHERE option_name = %s", $name));
    [$expires, $id] = array_map('intval', explode(' ', $stored . ' '));
    return $stored !== null && time() < $expires ? $id : null;
}

function homeport_act_as(int $user, string $token): void
{
    add_filter('session_token_manager', static function () use ($user, $token): string {
        require_once __DIR__ . '/probe-session.php';
        Homeport_Probe_Session::of($user, $token);
        return 'Homeport_Probe_Session';
    }, PHP_INT_MAX);
    add_action('plugins_loaded', static function () use ($user, $token): void {
        $until = time() + HOUR_IN_SECONDS;
        $_COOKIE[AUTH_COOKIE] = wp_generate_auth_cookie($user, $until, 'auth', $token);
        $_COOKIE[SECURE_AUTH_COOKIE] = wp_generate_auth_cookie($user, $until, 'secure_auth', $token);
        $_COOKIE[LOGGED_IN_COOKIE] = wp_generate_auth_cookie($user, $until, 'logged_in', $token);
        // They would ask wordpress.org, and note that they did.
        foreach (['_maybe_update_core', '_maybe_update_plugins', '_maybe_update_themes'] as $check) {
            remove_action('admin_init', $check);
        }
        remove_action('load-plugins.php', 'wp_update_plugins');
    }, PHP_INT_MIN);
    add_filter('pre_http_request', static function ($answer, $arguments, $url) {
        $host = (string) parse_url((string) $url, PHP_URL_HOST);
        return preg_match('/(^|\.)wordpress\.org$/iD', $host) === 1 ? new WP_Error('none', 'Nothing is asked during a check.') : $answer;
    }, PHP_INT_MAX, 3);
    // The editor and the dashboard store an empty draft when they open.
    add_action('wp_insert_post', static function ($id, $post) {
        if ($post instanceof WP_Post && $post->post_status === 'auto-draft') {
            $GLOBALS['homeport_probe_drafts'][] = (int) $id;
        }
    }, PHP_INT_MAX, 2);
}

/** Removes what the page stored, and says which error of PHP ended it. */
function homeport_end_probe(): void
{
    global $wpdb;
    $error = error_get_last();
    foreach ($GLOBALS['homeport_probe_drafts'] ?? [] as $id) {
        if ($wpdb->delete($wpdb->posts, ['ID' => $id, 'post_status' => 'auto-draft'])) {
            $wpdb->delete($wpdb->postmeta, ['post_id' => $id]);
            $wpdb->delete($wpdb->term_relationships, ['object_id' => $id]);
            clean_post_cache($id);
        }
    }
    $fatal = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
    if ($error === null || ($error['type'] & $fatal) === 0) {
        return;
    }
    while (ob_get_level() > 0 && @ob_end_clean()) {
        continue;
    }
    if (!headers_sent()) {
        http_response_code(500);
    }
    $message = strtok($error['message'], "\n");
    // The message of an uncaught exception contains the place.
    $place = str_contains($message, $error['file']) ? '' : " in {$error['file']}:{$error['line']}";
    echo "\n<!--homeport-probe ", base64_encode($message . $place), '-->';
    // WordPress's own handler comes after this.
    exit;
}
