<?php
/**
 * Database access in the browser (docs/decisions/database-access.md): exchanges a link for a session, and runs Debian's adminer in
 * it. WordPress is not loaded, so that a broken website does not matter. Nothing here is secret from the website, which has the same
 * rights in the database.
 */
const HOMEPORT_ADMINER = '/run/homeport/adminer/adminer.php';
const HOMEPORT_COOKIE = 'homeport_database';
const HOMEPORT_PATH = '/.well-known/homeport-database/';
const HOMEPORT_IDLE_SECONDS = 30 * 60;
const HOMEPORT_LONGEST_SECONDS = 8 * 60 * 60;
const HOMEPORT_OTHER_SYSTEMS = ['server', 'sqlite', 'sqlite2', 'pgsql', 'oracle', 'mssql', 'mongo', 'elastic', 'clickhouse', 'firebird', 'simpledb', 'imap', 'igdb', 'ext'];

header('Cache-Control: no-store');
header('Referrer-Policy: no-referrer');
header('X-Content-Type-Options: nosniff');
header('X-Frame-Options: DENY');
header("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'");

// A browser that guesses the visitor's next step must not use up the link.
if (str_contains(($_SERVER['HTTP_SEC_PURPOSE'] ?? '') . ($_SERVER['HTTP_PURPOSE'] ?? ''), 'prefetch')) {
    homeport_stop(503, 'Not now', 'Open the link itself.');
}
homeport_configure_sessions();
if (isset($_GET['token'])) {
    homeport_sign_in(is_string($_GET['token']) ? $_GET['token'] : '');
}
define('HOMEPORT_DATABASE', homeport_session());
if (($_POST['logout'] ?? '') !== '') {
    homeport_end_session();
    homeport_stop(200, 'Signed out', 'You have left the database. To come back, open it again from the page of the install.');
}
homeport_check_request(HOMEPORT_DATABASE);
// Not part of the server's name, which adminer 5.2 takes for a port.
ini_set('mysqli.default_socket', HOMEPORT_DATABASE['socket']);
// adminer itself asks its maker for new versions otherwise.
$_COOKIE['adminer_version'] = '0';
// adminer trusts these for permanent sign-ins, which this page has not.
unset($_COOKIE['adminer_permanent']);

/** Called by adminer, with its class loaded. Later versions have it in a namespace. */
function adminer_object()
{
    class_alias(class_exists('Adminer\Adminer', false) ? 'Adminer\Adminer' : 'Adminer', 'HomeportAdminer');

    return new class extends HomeportAdminer {
        function name(): string
        {
            return "<span id='h1'>Adminer</span>";
        }

        function credentials(): array
        {
            $driver = defined('Adminer\DRIVER') ? constant('Adminer\DRIVER') : DRIVER;
            if ($driver !== 'server') {
                homeport_stop(403, 'Not possible', 'Only the database of this install can be opened.');
            }
            // The socket identifies the user: there is no password.
            return ['localhost', HOMEPORT_DATABASE['user'], ''];
        }

        function login($login, $password)
        {
            return true;
        }

        function serverName($server): string
        {
            return 'MariaDB';
        }

        function databases($flush = true): array
        {
            return [HOMEPORT_DATABASE['database']];
        }

        function permanentLogin($create = false): string
        {
            return '';
        }

        function importServerPath(): string
        {
            return '';
        }

        function css(): array
        {
            return [];
        }

        function csp(...$given): array
        {
            return array_map(
                static fn(array $policy) => [
                    'default-src' => "'none'",
                    'style-src' => "'self' 'unsafe-inline'",
                    'img-src' => "'self' data:",
                    'frame-src' => "'none'",
                    'frame-ancestors' => "'none'",
                ] + $policy,
                parent::csp(...$given),
            );
        }

        function headers(): void
        {
            header('Cache-Control: no-store');
            header('Referrer-Policy: no-referrer');
        }
    };
}

require HOMEPORT_ADMINER;

function homeport_configure_sessions(): void
{
    if (!is_file(HOMEPORT_ADMINER)) {
        homeport_stop(503, 'Not available', 'This host has no adminer. Ask your hosting company to install it.');
    }
    $secure = in_array(strtolower($_SERVER['HTTPS'] ?? ''), ['on', '1'], true);
    session_cache_limiter('');
    session_name(HOMEPORT_COOKIE);
    session_save_path(homeport_folder());
    ini_set('session.use_strict_mode', '1');
    ini_set('session.gc_maxlifetime', (string) HOMEPORT_IDLE_SECONDS);
    session_set_cookie_params([
        'lifetime' => 0,
        'path' => HOMEPORT_PATH,
        'secure' => $secure,
        'httponly' => true,
        'samesite' => 'Strict',
    ]);
}

/** The folder of links and sessions, which the host makes. Not in `/tmp`, which ends with PHP. */
function homeport_folder(): string
{
    return ini_get('upload_tmp_dir') . '/homeport-database';
}

/** Exchanges a link. Of several requests at once, the one that deletes its file gets it. */
function homeport_sign_in(string $token): never
{
    $link = null;
    if ($_SERVER['REQUEST_METHOD'] === 'GET' && preg_match('/^(\d{10})\.[A-Za-z0-9_-]{43}$/D', $token, $parts) === 1 && time() < (int) $parts[1]) {
        $file = homeport_folder() . "/link-$parts[1]-" . hash('sha256', $token);
        $text = @file_get_contents($file, false, null, 0, 4096);
        $link = $text !== false && @unlink($file) ? json_decode($text, true) : null;
    }
    if (!is_array($link)) {
        homeport_stop(403, 'This link no longer works', 'It was used, or it has expired. Links open the database once, within a minute. Open the database again from the page of the install.');
    }
    session_start();
    // A new session for each link.
    session_regenerate_id(true);
    $user = $link['user'];
    $_SESSION = [
        'homeport' => ['database' => $link['database'], 'user' => $user, 'socket' => $link['socket'], 'since' => time(), 'seen' => time()],
        // adminer looks for a password before it connects.
        'pwds' => ['server' => ['' => [$user => '']]],
    ];
    session_write_close();
    // No redirect: a browser that comes from another website would not send the cookie (SameSite).
    $next = htmlspecialchars(homeport_start($link));
    header('Refresh: 0; url=' . homeport_start($link));
    homeport_stop(200, 'The database opens', "<a href=\"$next\">Continue to the database</a>", true);
}

/** The first page of adminer. */
function homeport_start(array $database): string
{
    return HOMEPORT_PATH . '?' . http_build_query(['username' => $database['user'], 'db' => $database['database']]);
}

/** The database of the visitor's session. Ends the request without one. */
function homeport_session(): array
{
    $id = $_COOKIE[HOMEPORT_COOKIE] ?? null;
    // Before PHP begins a session, which would leave a file for each stranger.
    if (is_string($id) && preg_match('/^[A-Za-z0-9,-]{22,128}$/D', $id) === 1 && is_file(homeport_folder() . "/sess_$id")) {
        session_start();
        $database = $_SESSION['homeport'] ?? null;
        $now = time();
        if (is_array($database) && $now - $database['seen'] < HOMEPORT_IDLE_SECONDS && $now - $database['since'] < HOMEPORT_LONGEST_SECONDS) {
            $_SESSION['homeport']['seen'] = $now;
            return $database;
        }
        homeport_end_session();
    }
    homeport_stop(403, 'Your session has ended', 'Open the database again from the page of the install.');
}

function homeport_end_session(): void
{
    session_destroy();
    setcookie(HOMEPORT_COOKIE, '', ['expires' => 1] + array_diff_key(session_get_cookie_params(), ['lifetime' => 0]));
}

/** Ends requests for other servers, systems, users, databases and files. The rights of the user in MariaDB are what really counts. */
function homeport_check_request(array $database): void
{
    // Pictures, styles and scripts of adminer.
    if (isset($_GET['file'])) {
        return;
    }
    $isOther = isset($_POST['auth'])
        || isset($_POST['webfile'])
        || ($_GET['script'] ?? '') === 'version'
        || array_intersect(HOMEPORT_OTHER_SYSTEMS, array_keys($_GET)) !== []
        || ($_GET['username'] ?? $database['user']) !== $database['user']
        || !in_array($_GET['db'] ?? '', ['', $database['database']], true);
    if ($isOther) {
        homeport_stop(403, 'Not possible', 'Only the database of this install can be opened.');
    }
    if (!isset($_GET['username']) || ($_GET['db'] ?? '') === '') {
        header('Location: ' . homeport_start($database), true, 303);
        exit;
    }
}

/** Answers with a page of our own. `$text`: in HTML if `$isHtml`. */
function homeport_stop(int $status, string $title, string $text, bool $isHtml = false): never
{
    http_response_code($status);
    header('Content-Type: text/html; charset=utf-8');
    $text = $isHtml ? $text : htmlspecialchars($text);
    echo "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>$title</title><h1>$title</h1><p>$text</p></html>\n";
    exit;
}
