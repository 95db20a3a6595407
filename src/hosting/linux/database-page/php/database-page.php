<?php
/**
 * Shows the database of the install with Debian's adminer (docs/decisions/database-access.md). WordPress is not loaded, so that a broken
 * website does not matter.
 */
require __DIR__ . '/database-sessions.php';

const HOMEPORT_ADMINER = '/run/homeport/adminer/adminer.php';
const HOMEPORT_OTHER_SYSTEMS = ['server', 'sqlite', 'sqlite2', 'pgsql', 'oracle', 'mssql', 'mongo', 'elastic', 'clickhouse', 'firebird', 'simpledb', 'imap', 'igdb', 'ext'];

define('HOMEPORT_DATABASE', homeport_database(
    'homeport_start',
    // adminer looks for a password before it connects.
    static fn(array $link): array => ['pwds' => ['server' => ['' => [$link['user'] => '']]]],
    ($_POST['logout'] ?? '') !== '',
    isset($_GET['file']),
));
if (!is_file(HOMEPORT_ADMINER)) {
    homeport_stop(503, 'Not available', 'This host has no adminer. Ask your hosting company to install it.');
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
                homeport_refuse_other();
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

/** The first page of adminer. */
function homeport_start(array $database): string
{
    return HOMEPORT_PATH . '?' . http_build_query(['username' => $database['user'], 'db' => $database['database']]);
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
        homeport_refuse_other();
    }
    if (!isset($_GET['username']) || ($_GET['db'] ?? '') === '') {
        header('Location: ' . homeport_start($database), true, 303);
        exit;
    }
}
