<?php
/**
 * Links and sessions of database access in the browser (docs/decisions/database-access.md). A program that shows the database loads this
 * file before anything else. Nothing here is secret from the website, which has the same rights in the database.
 */
const HOMEPORT_COOKIE = 'homeport_database';
const HOMEPORT_PATH = '/.well-known/homeport-database/';
const HOMEPORT_IDLE_SECONDS = 30 * 60;
const HOMEPORT_LONGEST_SECONDS = 8 * 60 * 60;

/**
 * Returns the content of the link that opened the visitor's session. Ends every other request: with a new session if the link is good.
 *
 * @param callable(array): string $start the address of the program's first page
 * @param callable(array): array $begin what else a new session contains
 * @param bool $isLeaving whether the visitor leaves the database
 * @param bool $isFile whether the request changes nothing in the session, and need not wait for others of it
 */
function homeport_database(callable $start, callable $begin, bool $isLeaving, bool $isFile): array
{
    header('Cache-Control: no-store');
    header('Referrer-Policy: no-referrer');
    header('X-Content-Type-Options: nosniff');
    header('X-Frame-Options: DENY');
    header('X-Robots-Tag: noindex');
    header("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
    // A browser that guesses the visitor's next step must not use up the link.
    if (str_contains(($_SERVER['HTTP_SEC_PURPOSE'] ?? '') . ($_SERVER['HTTP_PURPOSE'] ?? ''), 'prefetch')) {
        homeport_stop(503, 'Not now', 'Open the link itself.');
    }
    homeport_configure_sessions();
    // Programs have tokens of their own in the addresses of their pages.
    if (isset($_GET['token']) && strtok($_SERVER['REQUEST_URI'], '?') === HOMEPORT_PATH) {
        homeport_sign_in(is_string($_GET['token']) ? $_GET['token'] : '', $start, $begin);
    }
    $database = homeport_session($isFile);
    if ($isLeaving) {
        homeport_end_session();
        homeport_stop(200, 'Signed out', 'You have left the database. To come back, open it again from the page of the install.');
    }
    return $database;
}

function homeport_configure_sessions(): void
{
    $secure = in_array(strtolower($_SERVER['HTTPS'] ?? ''), ['on', '1'], true);
    session_cache_limiter('');
    session_name(HOMEPORT_COOKIE);
    session_save_path(homeport_folder());
    ini_set('session.use_strict_mode', '1');
    ini_set('session.use_only_cookies', '1');
    ini_set('session.gc_maxlifetime', (string) HOMEPORT_IDLE_SECONDS);
    session_set_cookie_params([
        'lifetime' => 0,
        'path' => HOMEPORT_PATH,
        'secure' => $secure,
        'httponly' => true,
        'samesite' => 'Strict',
    ]);
}

/** The folder of links and sessions, which keep-database-link.php makes. Not in `/tmp`, which ends with PHP. */
function homeport_folder(): string
{
    return ini_get('upload_tmp_dir') . '/homeport-database';
}

/** Exchanges a link. Of several requests at once, the one that deletes its file gets it. */
function homeport_sign_in(string $token, callable $start, callable $begin): never
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
    $_SESSION = ['homeport' => $link + ['since' => time(), 'seen' => time()]] + $begin($link);
    session_write_close();
    // No redirect: a browser that comes from another website would not send the cookie (SameSite).
    $address = $start($link);
    $next = htmlspecialchars($address);
    header("Refresh: 0; url=$address");
    homeport_stop(200, 'The database opens', "<a href=\"$next\">Continue to the database</a>", true);
}

/** The content of the link of the visitor's session. Ends the request without one. */
function homeport_session(bool $isFile): array
{
    $id = $_COOKIE[HOMEPORT_COOKIE] ?? null;
    // Before PHP begins a session, which would leave a file for each stranger.
    if (is_string($id) && preg_match('/^[A-Za-z0-9,-]{22,128}$/D', $id) === 1 && is_file(homeport_folder() . "/sess_$id")) {
        session_start(['read_and_close' => $isFile]);
        $database = $_SESSION['homeport'] ?? null;
        $now = time();
        if (is_array($database) && $now - $database['seen'] < HOMEPORT_IDLE_SECONDS && $now - $database['since'] < HOMEPORT_LONGEST_SECONDS) {
            $_SESSION['homeport']['seen'] = $now;
            return $database;
        }
        if ($isFile) {
            session_start();
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

/** Answers with a page of our own. `$text`: in HTML if `$isHtml`. */
function homeport_stop(int $status, string $title, string $text, bool $isHtml = false): never
{
    http_response_code($status);
    header('Content-Type: text/html; charset=utf-8');
    $text = $isHtml ? $text : htmlspecialchars($text);
    echo "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>$title</title><h1>$title</h1><p>$text</p></html>\n";
    exit;
}

function homeport_refuse_other(): never
{
    homeport_stop(403, 'Not possible', 'Only the database of this install can be opened.');
}
