<?php
/**
 * Shows the database of a website in SQLite with phpMyAdmin (docs/decisions/database-access.md). WordPress and the website's own code
 * are not loaded, so that a broken website does not matter.
 */
require __DIR__ . '/database-sessions.php';

/** Kinds of the files that its pages load. */
const HOMEPORT_FILE_TYPES = [
    'css' => 'text/css; charset=utf-8',
    'gif' => 'image/gif',
    'ico' => 'image/x-icon',
    'js' => 'text/javascript; charset=utf-8',
    'png' => 'image/png',
    'svg' => 'image/svg+xml',
];
/** Parts of phpMyAdmin for servers of MySQL, for their users, for itself, or with requests to its makers. */
const HOMEPORT_CLOSED_ROUTES = '#^/(?:server|preferences|phpinfo|version-check|git-revision|error-report|check-relations|themes)(?:/|$)#';

(static function (): void {
    $path = substr(strtok($_SERVER['REQUEST_URI'], '?'), strlen(HOMEPORT_PATH));
    $type = preg_match('#^(?:js|themes)/[A-Za-z0-9_/@.-]+\.([a-z]+)$|^favicon\.(ico)$#D', $path, $parts) === 1 ? HOMEPORT_FILE_TYPES[end($parts)] ?? null : null;
    $isFile = $type !== null && !str_contains($path, '..');
    $asked = $_GET['route'] ?? $_POST['route'] ?? '';
    // phpMyAdmin decodes it once more.
    $route = is_string($asked) ? rawurldecode($asked) : null;
    $database = homeport_database(
        'homeport_start',
        // What phpMyAdmin puts into a session that it begins itself.
        static fn(): array => [' PMA_token ' => bin2hex(random_bytes(16)), ' HMAC_secret ' => random_bytes(16)],
        $route === '/logout',
        $isFile || $path === 'js/messages.php',
    );
    define('ROOT_PATH', "{$database['program']}/");
    if (!is_file(ROOT_PATH . 'index.php')) {
        homeport_stop(403, 'Your session has ended', 'Open the database again from the page of the install.');
    }
    if ($isFile) {
        homeport_send_file(ROOT_PATH . $path, $type);
    }
    if (!in_array($path, ['', 'index.php', 'url.php', 'js/messages.php'], true)) {
        homeport_stop(404, 'Not found', 'There is nothing at this address.');
    }
    homeport_check_form();
    $names = array_filter([$_GET['db'] ?? '', $_POST['db'] ?? ''], static fn(mixed $name): bool => $name !== '');
    if ($route === null || preg_match(HOMEPORT_CLOSED_ROUTES, $route) === 1 || array_diff($names, [$database['database']]) !== []) {
        homeport_refuse_other();
    }
    if ($path === '' || ($path === 'index.php' && in_array($route, ['', '/'], true))) {
        header('Location: ' . homeport_start($database), true, 303);
        exit;
    }
    if ($route === '/export') {
        // Other requests of the session would wait for the whole download, each in a thread that visitors need.
        session_write_close();
    }
    homeport_prepare($database, $path);
    chdir(ROOT_PATH . dirname($path ?: 'index.php'));
})();
require ROOT_PATH . HOMEPORT_PROGRAM;
exit;

/**
 * Ends a request with a form that is of no page of this session. Browsers take websites below one domain for one site, and send the cookie
 * with a form of another customer's website. phpMyAdmin 5.2 runs statements without its token.
 */
function homeport_check_form(): void
{
    $token = $_POST['token'] ?? null;
    if ($_SERVER['REQUEST_METHOD'] === 'POST' && !(is_string($token) && hash_equals($_SESSION[' PMA_token '], $token))) {
        homeport_stop(403, 'Not done', 'This form is not of your session. Nothing was changed. Load the page again.');
    }
}

/** The first page of phpMyAdmin. */
function homeport_start(array $database): string
{
    return HOMEPORT_PATH . 'index.php?' . http_build_query(['route' => '/database/structure', 'db' => $database['database']]);
}

/** Sends a file of phpMyAdmin, which names its version in the addresses. No shared cache keeps it. */
function homeport_send_file(string $file, string $type): never
{
    if (!is_file($file)) {
        homeport_stop(404, 'Not found', 'There is nothing at this address.');
    }
    header('Cache-Control: private, max-age=3600');
    header("Content-Type: $type");
    header('Content-Length: ' . filesize($file));
    readfile($file);
    exit;
}

/** Gives phpMyAdmin its settings, its connection and the headers of its answers. */
function homeport_prepare(array $database, string $program): void
{
    define('HOMEPORT_PROGRAM', $program);
    // Its script of messages defines this itself.
    if ($program !== 'js/messages.php') {
        // The session is open already, under our own name.
        define('PMA_NO_SESSION', true);
    }
    // It would take what follows a `.php` in the path for a part of its own address.
    unset($_SERVER['PATH_INFO']);
    $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = HOMEPORT_PATH . $program;
    unset($_COOKIE['pma_theme']);
    define('HOMEPORT_PHPMYADMIN', [
        'PmaAbsoluteUri' => HOMEPORT_PATH,
        'ThemeDefault' => 'bootstrap',
        'ThemeManager' => false,
        'CheckConfigurationPermissions' => false,
        'VersionCheck' => false,
        'SendErrorReports' => 'never',
        'ShowServerInfo' => false,
        'ShowPhpInfo' => false,
        'ShowCreateDb' => false,
        'ShowChgPassword' => false,
        'ShowGitRevision' => false,
        'ShowStats' => false,
        'AllowUserDropDatabase' => false,
        'AllowThirdPartyFraming' => false,
        'LoginCookieValidity' => HOMEPORT_IDLE_SECONDS,
        'LoginCookieValidityDisableWarning' => true,
        'PmaNoRelation_DisableWarning' => true,
        // PHP's own limit, which the thread enforces.
        'MemoryLimit' => '0',
        'ExecTimeLimit' => 0,
        'DefaultTabDatabase' => 'structure',
        'DefaultTabTable' => 'browse',
        'NavigationTreeDisplayDbFilterMinimum' => 100,
        'NavigationTreeEnableGrouping' => false,
        'Servers' => [1 => [
            'verbose' => 'SQLite',
            'host' => 'localhost',
            'auth_type' => 'signon',
            'SignonScript' => __DIR__ . '/phpmyadmin-user.php',
            'SignonURL' => HOMEPORT_PATH,
            'LogoutURL' => HOMEPORT_PATH,
            'AllowNoPassword' => true,
            'only_db' => $database['database'],
        ]],
    ]);
    header_register_callback(static function (): void {
        // phpMyAdmin needs inline scripts. Nothing is loaded from elsewhere.
        header("Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        header_remove('X-Content-Security-Policy');
        header_remove('X-WebKit-CSP');
        header_remove('X-ob_mode');
        header('X-Robots-Tag: noindex');
        header('Referrer-Policy: no-referrer');
        if (HOMEPORT_PROGRAM === 'js/messages.php') {
            header('Cache-Control: private, max-age=3600');
            return;
        }
        header('Cache-Control: no-store');
        header_remove('Pragma');
        header_remove('Expires');
    });
}
