<?php
/**
 * Fetches a website and its database from another host by SSH, as the install's user in its sandbox. The firewall closes private
 * addresses to this user, whatever a name leads to.
 *
 * Argument: the folder to write to. Reads `{"host": …, "port": …, "user": …, "path": …, "hostKey": …, "privateKey": …,
 * "mostBytes": …}` from standard input, in tests also `slowSeconds`. Prints lines of JSON as import-unpack.php does; the result names `archive` and `dump`.
 *
 * The archive is a tar of the old host's making. import-unpack.php checks each of its entries, as those of an uploaded archive.
 */
require __DIR__ . '/import-archive.php';

const CONNECT_SECONDS = 20;
const LONGEST_SECONDS = 2 * 3600;
/** A server that stalls or trickles must not occupy the install. One that packs many small files or waits for a lock may pause. */
const LEAST_BYTES_A_SECOND = 10_000;
const SLOW_SECONDS = 300;
const MOST_SCANNED = 64 << 10;
const MOST_SAID = 8 << 10;
const LONGEST_SAID = 300;
/** The best first. */
const KEY_TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];
/** The name of the server in our known_hosts. */
const ALIAS = 'import';

/** Exit statuses of {@see script_for}, which say what the old host lacks. */
const REASONS = [
    91 => 'The folder "%s" does not exist on the old host, or its user may not open it. Check the path.',
    92 => 'The folder "%s" on the old host has no wp-content. Name the folder of the WordPress.',
    93 => 'The old host lacks tar. Import an archive instead.',
    94 => 'The old host has neither WP-CLI nor PHP on its command line, so the database cannot be exported. Import an archive instead.',
    95 => 'The old host lacks mysqldump, so the database cannot be exported. Import an archive instead.',
    97 => 'The website in "%s" is a network (multisite). Export its websites one by one.',
    96 => 'The settings of the database could not be read from the wp-config.php in "%s" on the old host.',
];

/** Changes to the folder of the WordPress, in the shell of the old host. */
const ENTER = <<<'SH'
unset CDPATH
LC_ALL=C
export LC_ALL
cd -- %s 2>/dev/null || exit 91
[ -d wp-content ] || exit 92

SH;

/** Before anything is sent. A comment begins its line, as wp-config-sample.php does it. */
const REFUSE_NETWORK = <<<'SH'
for config in wp-config.php ../wp-config.php; do
  [ -f "$config" ] || continue
  ! grep -Eiq "^[[:space:]]*define[[:space:]]*\([[:space:]]*['\"]MULTISITE['\"][[:space:]]*,[[:space:]]*(true|1)" "$config" || exit 97
  break
done

SH;

/** Status 1 of tar: a file changed while it was read, which is usual for a website in use. */
const PACK = <<<'SH'
command -v tar >/dev/null 2>&1 || exit 93
set --
if [ -f wp-config.php ] && [ ! -h wp-config.php ]; then set -- wp-config.php
elif [ -f ../wp-config.php ] && [ ! -h ../wp-config.php ]; then set -- -C .. wp-config.php
fi
case "$(tar --version 2>/dev/null)" in *GNU*) hard=--hard-dereference ;; *) hard= ;; esac
tar $hard --exclude=wp-content/./object-cache.php --exclude=wp-content/./advanced-cache.php --exclude=wp-content/./db.php \
  -czf - wp-content/. "$@" </dev/null
status=$?
[ "$status" -le 1 ] || exit 1
exit 0

SH;

/** Without WP-CLI, PHP reads the settings as WP-CLI does. The password goes to mysqldump in a file that only the user may read. */
const DUMP = <<<'SH'
if command -v wp >/dev/null 2>&1 && wp config get DB_NAME --skip-plugins --skip-themes >/dev/null 2>&1 </dev/null; then
  wp db export - --single-transaction --default-character-set=utf8mb4 --skip-plugins --skip-themes --quiet </dev/null
  exit "$?"
fi
command -v php >/dev/null 2>&1 || exit 94
dump=$(command -v mysqldump || command -v mariadb-dump) || exit 95
settings=$(mktemp) || exit 96
trap 'rm -f "$settings"' EXIT
trap 'exit 1' HUP INT TERM
database=$(php -- "$settings" <<'PHP'
<?php
error_reporting(0);
$config = is_file("wp-config.php") ? "wp-config.php" : "../wp-config.php";
$path = realpath($config);
if ($path === false) exit(1);
$code = preg_replace("/^.*wp-settings\.php.*$/m", "", file_get_contents($path));
$code = str_replace(array("__FILE__", "__DIR__"), array(var_export($path, true), var_export(dirname($path), true)), $code);
ob_start();
eval("?>" . $code);
ob_end_clean();
if (!defined("DB_NAME") || !defined("DB_USER") || !defined("DB_PASSWORD")) exit(1);
$host = defined("DB_HOST") ? preg_replace("/^p:/", "", DB_HOST) : "localhost";
$lines = array("user" => DB_USER, "password" => DB_PASSWORD);
if (preg_match("~^(.*?):(/.+)$~", $host, $match)) {
    $lines["host"] = "localhost";
    $lines["socket"] = $match[2];
} elseif (preg_match("~^\[?(.+?)\]?:(\d+)$~", $host, $match)) {
    $lines["host"] = $match[1];
    $lines["port"] = $match[2];
} else {
    $lines["host"] = $host === "" ? "localhost" : $host;
}
$text = "[client]\n";
foreach ($lines as $name => $value) {
    $text .= $name . "=\"" . addcslashes($value, "\\\"") . "\"\n";
}
file_put_contents($argv[1], $text);
echo DB_NAME;
PHP
) || exit 96
[ -n "$database" ] || exit 96
"$dump" --defaults-extra-file="$settings" --single-transaction --quick --no-tablespaces --default-character-set=utf8mb4 \
  -- "$database" </dev/null
exit "$?"

SH;

[, $folder] = $argv;
$source = json_decode(stream_get_contents(STDIN), true);
// /tmp is the sandbox's own: the website does not see it.
$own = '/tmp/import-ssh-' . bin2hex(random_bytes(8));
mkdir($own, 0700);
register_shutdown_function(static function () use ($own): void {
    foreach (glob("$own/*") ?: [] as $file) {
        unlink($file);
    }
    rmdir($own);
});
umask(0077);
file_put_contents("$own/known_hosts", ALIAS . ' ' . confirmed_key($source) . "\n");
file_put_contents("$own/key", $source['privateKey']);

$ssh = ssh_command($source, $own);
$archive = "$folder/website.tar.gz";
$dump = "$folder/dump.sql";
$end = hrtime(true) + LONGEST_SECONDS * 1_000_000_000;
$done = fetch($ssh, script_for($source['path'], REFUSE_NETWORK . PACK), $archive, $source, 0, $end);
fetch($ssh, script_for($source['path'], DUMP), $dump, $source, $done, $end);
echo json_encode(['result' => ['archive' => $archive, 'dump' => $dump]]), "\n";

/** The key of the server that has the confirmed fingerprint, as a line of known_hosts. ssh then checks that the server owns it. */
function confirmed_key(array $source): string
{
    $keys = scanned_keys($source);
    $place = place_of($source);
    if ($keys === []) {
        refuse("No SSH server answers at $place. Check the host and the port, and that it is public.");
    }
    $wanted = $source['hostKey'];
    if ($wanted === null) {
        $best = array_key_first($keys);
        [$type] = explode(' ', $keys[$best]);
        refuse("The SSH server $place has the host key $best ($type). If it is that of the old host, import again with this host key.");
    }
    if (!isset($keys[$wanted])) {
        refuse("The SSH server $place does not have the host key $wanted, but " . implode(', ', array_keys($keys)) . '. It may be another server.');
    }
    return $keys[$wanted];
}

/** @return array<string, string> type and key by fingerprint, the best first */
function scanned_keys(array $source): array
{
    $command = ['/usr/bin/ssh-keyscan', '-T', (string) CONNECT_SECONDS, '-p', (string) $source['port'], '-t', 'ed25519,ecdsa,rsa', '--', $source['host']];
    $output = '';
    run($command, '', static function (string $bytes) use (&$output): bool {
        $output .= $bytes;
        return strlen($output) < MOST_SCANNED;
    }, hrtime(true) + 4 * CONNECT_SECONDS * 1_000_000_000);
    $found = [];
    foreach (explode("\n", $output) as $line) {
        $fields = explode(' ', trim($line));
        $blob = count($fields) === 3 ? base64_decode($fields[2], true) : false;
        if ($blob !== false && in_array($fields[1], KEY_TYPES, true)) {
            $print = 'SHA256:' . rtrim(base64_encode(hash('sha256', $blob, true)), '=');
            $found[array_search($fields[1], KEY_TYPES, true)] = [$print, "$fields[1] $fields[2]"];
        }
    }
    ksort($found);
    return array_column($found, 1, 0);
}

function ssh_command(array $source, string $own): array
{
    $options = [
        'BatchMode' => 'yes',
        'StrictHostKeyChecking' => 'yes',
        'HostKeyAlias' => ALIAS,
        'UserKnownHostsFile' => "$own/known_hosts",
        'GlobalKnownHostsFile' => '/dev/null',
        'UpdateHostKeys' => 'no',
        'VerifyHostKeyDNS' => 'no',
        'CheckHostIP' => 'no',
        'IdentityFile' => "$own/key",
        'IdentitiesOnly' => 'yes',
        'IdentityAgent' => 'none',
        'PreferredAuthentications' => 'publickey',
        'ForwardAgent' => 'no',
        'ForwardX11' => 'no',
        'ClearAllForwardings' => 'yes',
        'PermitLocalCommand' => 'no',
        'ProxyCommand' => 'none',
        'ControlPath' => 'none',
        'ControlMaster' => 'no',
        'Compression' => 'yes',
        'ConnectTimeout' => (string) CONNECT_SECONDS,
        'ServerAliveInterval' => '15',
        'ServerAliveCountMax' => '4',
        'LogLevel' => 'ERROR',
    ];
    $given = [];
    foreach ($options as $name => $value) {
        array_push($given, '-o', "$name=$value");
    }
    // The script comes by standard input, so that the login shell of the old host has nothing to parse.
    return ['/usr/bin/ssh', '-F', '/dev/null', '-T', ...$given, '-p', (string) $source['port'], '-l', $source['user'], '--', $source['host'], 'sh'];
}

/** In braces, so that the shell reads all of it before it runs a command. */
function script_for(string $path, string $work): string
{
    $quoted = "'" . str_replace("'", "'\\''", $path) . "'";
    return "{\n" . sprintf(ENTER, $quoted) . $work . "}\n";
}

/** Writes the output of a script on the old host to a file. Returns the bytes of all files. */
function fetch(array $ssh, string $script, string $file, array $source, int $before, int $end): int
{
    $out = fopen($file, 'xb');
    $done = $before;
    $told = 0;
    $fault = null;
    [$status, $said, $why] = run($ssh, $script, static function (string $bytes) use ($out, $source, &$done, &$told, &$fault): bool {
        $done += strlen($bytes);
        if ($source['mostBytes'] > 0 && $done > $source['mostBytes']) {
            $fault = 'The old host sends more bytes than an install may have.';
            return false;
        }
        if (@fwrite($out, $bytes) !== strlen($bytes)) {
            $fault = 'There is no room for what the old host sends.';
            return false;
        }
        $now = intdiv(hrtime(true), 250_000_000);
        if ($now !== $told) {
            echo json_encode(['progress' => [$done, null]]), "\n";
        }
        $told = $now;
        return true;
    }, $end, LEAST_BYTES_A_SECOND, slow_seconds($source));
    fclose($out);
    if ($fault !== null) {
        refuse($fault);
    }
    if ($status !== 0) {
        refuse(reason_of($status, $said, $why, $source));
    }
    return $done;
}

function slow_seconds(array $source): int
{
    return $source['slowSeconds'] ?? SLOW_SECONDS;
}

function reason_of(?int $status, string $said, ?string $why, array $source): string
{
    $place = place_of($source);
    if ($status === null) {
        $seconds = slow_seconds($source);
        return match ($why) {
            'mute' => "The SSH server $place sent nothing for $seconds seconds after the export began. Try again when the old host is less busy, or import an archive.",
            'slow' => "The SSH server $place sent less than " . LEAST_BYTES_A_SECOND / 1000 . " kB a second for $seconds seconds. Try again when the old host is less busy, or import an archive.",
            default => "The transfer from $place took more than " . LONGEST_SECONDS / 3600 . ' hours. Import an archive instead.',
        };
    }
    if (isset(REASONS[$status])) {
        return sprintf(REASONS[$status], $source['path']);
    }
    if ($status === 255 && str_contains($said, 'Permission denied')) {
        return "The SSH server $place refuses the key of this install. Add its public key to ~/.ssh/authorized_keys of {$source['user']}.";
    }
    $end = mb_strcut(trim($said), -LONGEST_SAID);
    return ($status === 255 ? "The connection to $place failed" : 'The export on the old host failed') . ($end === '' ? '.' : ": $end");
}

function place_of(array $source): string
{
    return "{$source['host']}:{$source['port']}";
}

/**
 * Runs a program until it ends, `take` returns false, the time `end` of hrtime() comes, or it sends nothing or less than `least` bytes a
 * second for so many seconds. They count from the first byte on again: an export of a large database begins late.
 *
 * @param Closure(string): bool $take
 * @return array{?int, string, ?string} the exit status, or null if it was stopped; the end of its errors; `mute`, `slow` or `late` if
 *     that is why it was stopped
 */
function run(array $command, string $input, Closure $take, int $end, int $least = 0, int $seconds = SLOW_SECONDS): array
{
    $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
    if ($process === false) {
        fwrite(STDERR, "Could not start $command[0].\n");
        exit(1);
    }
    [$stdin, $stdout, $stderr] = $pipes;
    // It fits into the buffer of a pipe.
    @fwrite($stdin, $input);
    fclose($stdin);
    $said = '';
    $open = ['out' => $stdout, 'err' => $stderr];
    $since = hrtime(true);
    $sent = 0;
    $began = false;
    $why = null;
    $goes = true;
    while ($goes && $open !== []) {
        $ready = $open;
        $none = null;
        stream_select($ready, $none, $none, 1);
        $now = hrtime(true);
        foreach ($ready as $name => $stream) {
            $bytes = (string) fread($stream, 1 << 16);
            if ($bytes === '' && feof($stream)) {
                unset($open[$name]);
            } elseif ($name === 'err') {
                // Errors alone are no progress.
                $said = substr($said . $bytes, -MOST_SAID);
            } else {
                if (!$began && $bytes !== '') {
                    [$began, $since] = [true, $now];
                }
                $sent += strlen($bytes);
                $goes = $goes && $take($bytes);
            }
        }
        if ($goes && $now >= $end) {
            [$goes, $why] = [false, 'late'];
        }
        if ($goes && $now - $since >= $seconds * 1_000_000_000) {
            if ($sent < $least * $seconds) {
                [$goes, $why] = [false, $began ? 'slow' : 'mute'];
            }
            [$since, $sent] = [$now, 0];
        }
    }
    if (!$goes) {
        proc_terminate($process, 9);
    }
    $status = proc_close($process);
    return [$goes ? $status : null, $said, $why];
}
