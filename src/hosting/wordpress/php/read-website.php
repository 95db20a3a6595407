<?php
/**
 * Prints what the website consists of, as one line of JSON. Loads none of its plugins and themes: it reads the headers of their
 * files, the options and the tables of users. Arguments: the most plugins, themes and administrators to print.
 */
require __DIR__ . '/load-plain.php';

/** More files than this are no plugins but something else. */
const MOST_FILES = 20000;
/** Longer headers are cut by the host. */
const MOST_BYTES = 1000;

[, $most_plugins, $most_themes, $most_administrators] = array_map('intval', $argv + [1 => '0', '0', '0']);
// A website with a million users must not keep the database busy.
$wpdb->query('SET SESSION max_statement_time = 20');
if ($wpdb->get_var("SELECT COUNT(*) FROM $wpdb->options WHERE option_name = 'active_plugins'") === null) {
    fwrite(STDERR, 'The database of WordPress cannot be read: ' . $wpdb->last_error . "\n");
    exit(1);
}

$plugins = homeport_plugins($most_plugins);
$themes = homeport_themes($most_themes);
$administrators = homeport_administrators($most_administrators + 1);
$line = json_encode([
    'core' => homeport_core(),
    'plugins' => $plugins['entries'],
    'themes' => $themes['entries'],
    'administrators' => array_slice($administrators, 0, $most_administrators),
    'siteHealth' => homeport_stored_health(),
    'multisite' => is_multisite(),
    'isComplete' => $plugins['whole'] && $themes['whole'] && count($administrators) <= $most_administrators,
    'updatesKnown' => array_map(
        static fn($name) => isset(homeport_updates($name)->last_checked),
        ['core' => 'update_core', 'plugins' => 'update_plugins', 'themes' => 'update_themes'],
    ),
], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
// Not by output buffers, which a configuration can change.
fwrite(STDOUT, "\nhomeport:$line\n");

function homeport_core(): array
{
    require ABSPATH . WPINC . '/version.php';
    $newest = null;
    foreach ((array) (homeport_updates('update_core')->updates ?? []) as $offer) {
        $offer = (object) $offer;
        $version = $offer->version ?? $offer->current ?? null;
        if (!is_string($version) || !in_array($offer->response ?? '', ['upgrade', 'autoupdate'], true)) {
            continue;
        }
        if (version_compare($version, $newest ?? $wp_version, '>')) {
            $newest = $version;
        }
    }
    return ['version' => $wp_version, 'update' => $newest];
}

/** Plugins in their folder, must-use plugins and drop-ins. */
function homeport_plugins(int $most): array
{
    $active = homeport_list(get_option('active_plugins'));
    $network = is_multisite() ? array_keys((array) get_site_option('active_sitewide_plugins', [])) : [];
    $automatic = homeport_list(get_site_option('auto_update_plugins', []));
    $offers = homeport_offers('update_plugins');
    $found = ['entries' => [], 'whole' => true];
    $add = static function (string $path, string $file, string $status) use (&$found, $most, $automatic, $offers): void {
        $header = homeport_header($path, ['name' => 'Plugin Name', 'version' => 'Version']);
        $is_free = in_array($status, ['must_use', 'dropin'], true);
        if ($header['name'] === '' && !$is_free) {
            return;
        }
        if (count($found['entries']) >= $most) {
            $found['whole'] = false;
            return;
        }
        $found['entries'][] = [
            'file' => $file,
            'name' => $header['name'] === '' ? $file : $header['name'],
            'version' => $header['version'] === '' ? null : $header['version'],
            'status' => $status,
            'update' => $is_free ? null : homeport_newer($offers[$file] ?? null, $header['version']),
            'autoUpdate' => !$is_free && in_array($file, $automatic, true),
        ];
    };
    $left = MOST_FILES;
    $status = static fn(string $file): string => match (true) {
        in_array($file, $network, true) => 'network',
        in_array($file, $active, true) => 'active',
        default => 'inactive',
    };
    foreach (homeport_names(WP_PLUGIN_DIR, $left) as $name) {
        $path = WP_PLUGIN_DIR . "/$name";
        if (str_ends_with($name, '.php')) {
            $add($path, $name, $status($name));
            continue;
        }
        if (!is_dir($path)) {
            continue;
        }
        foreach (homeport_names($path, $left) as $inner) {
            if (str_ends_with($inner, '.php')) {
                $add("$path/$inner", "$name/$inner", $status("$name/$inner"));
            }
        }
    }
    foreach (homeport_names(WP_CONTENT_DIR . '/mu-plugins', $left) as $name) {
        if (str_ends_with($name, '.php')) {
            $add(WP_CONTENT_DIR . "/mu-plugins/$name", $name, 'must_use');
        }
    }
    $dropins = ['advanced-cache.php', 'db.php', 'db-error.php', 'install.php', 'maintenance.php', 'object-cache.php', 'php-error.php',
        'fatal-error-handler.php', 'sunrise.php', 'blog-deleted.php', 'blog-inactive.php', 'blog-suspended.php'];
    foreach ($dropins as $name) {
        if (is_file(WP_CONTENT_DIR . "/$name")) {
            $add(WP_CONTENT_DIR . "/$name", $name, 'dropin');
        }
    }
    $found['whole'] = $found['whole'] && $left > 0;
    return $found;
}

function homeport_themes(int $most): array
{
    $stylesheet = get_option('stylesheet');
    $template = get_option('template');
    $automatic = homeport_list(get_site_option('auto_update_themes', []));
    $offers = homeport_offers('update_themes');
    $root = WP_CONTENT_DIR . '/themes';
    $left = MOST_FILES;
    $found = ['entries' => [], 'whole' => true];
    foreach (homeport_names($root, $left) as $name) {
        $style = "$root/$name/style.css";
        if (!is_file($style)) {
            continue;
        }
        if (count($found['entries']) >= $most) {
            $found['whole'] = false;
            break;
        }
        $header = homeport_header($style, ['name' => 'Theme Name', 'version' => 'Version', 'parent' => 'Template']);
        // Themes that came with WordPress are links into it, and are updated with it.
        $bundled = is_link("$root/$name") && str_starts_with((string) readlink("$root/$name"), dirname(__DIR__) . '/');
        $found['entries'][] = [
            'stylesheet' => $name,
            'name' => $header['name'] === '' ? $name : $header['name'],
            'version' => $header['version'] === '' ? null : $header['version'],
            'status' => match ($name) { $stylesheet => 'active', $template => 'parent', default => 'inactive' },
            'parent' => in_array($header['parent'], ['', $name], true) ? null : $header['parent'],
            'bundled' => $bundled,
            'update' => $bundled ? null : homeport_newer($offers[$name] ?? null, $header['version']),
            'autoUpdate' => in_array($name, $automatic, true),
        ];
    }
    return $found;
}

/** Users with the role of an administrator on the main site. In a network, its own administrators too. */
function homeport_administrators(int $most): array
{
    global $wpdb;
    $logins = is_multisite() ? homeport_list(get_site_option('site_admins', [])) : [];
    $places = implode(', ', array_fill(0, max(1, count($logins)), '%s'));
    $rows = $wpdb->get_results($wpdb->prepare(
        "SELECT u.user_login, u.user_email, u.display_name, u.user_registered FROM $wpdb->users u
            WHERE u.ID IN (SELECT m.user_id FROM $wpdb->usermeta m WHERE m.meta_key = %s AND m.meta_value LIKE %s)
                OR u.user_login IN ($places)
            ORDER BY u.ID LIMIT %d",
        $wpdb->base_prefix . 'capabilities',
        '%"administrator";b:1;%',
        ...[...($logins === [] ? [''] : $logins), $most],
    ));
    if ($wpdb->last_error !== '') {
        fwrite(STDERR, 'The users of WordPress cannot be read: ' . $wpdb->last_error . "\n");
        exit(1);
    }
    return array_map(static fn(object $row): array => [
        'login' => homeport_cut($row->user_login),
        'email' => $row->user_email === '' ? null : homeport_cut($row->user_email),
        'displayName' => homeport_cut($row->display_name),
        'registeredAt' => homeport_cut($row->user_registered),
    ], $rows ?? []);
}

/** The counts that WordPress stored after its own tests. */
function homeport_stored_health(): ?array
{
    $stored = get_transient('health-check-site-status-result');
    $counts = is_string($stored) ? json_decode($stored, true) : null;
    if (!is_array($counts)) {
        return null;
    }
    $count = static fn(string $name): int => is_numeric($counts[$name] ?? null) ? (int) $counts[$name] : 0;
    return ['good' => $count('good'), 'recommended' => $count('recommended'), 'critical' => $count('critical'), 'issues' => []];
}

/** What WordPress knew when it last asked for updates. */
function homeport_updates(string $name): ?object
{
    $stored = get_site_transient($name);
    return is_object($stored) ? $stored : null;
}

/** The offered versions by plugin or theme. */
function homeport_offers(string $name): array
{
    $offers = [];
    foreach ((array) (homeport_updates($name)->response ?? []) as $key => $offer) {
        $version = is_object($offer) || is_array($offer) ? ((array) $offer)['new_version'] ?? null : null;
        if (is_string($version) && $version !== '') {
            $offers[$key] = $version;
        }
    }
    return $offers;
}

/** The offered version, if it is newer. Offers stay for a while after an update. */
function homeport_newer(?string $offered, string $present): ?string
{
    return $offered !== null && version_compare($offered, $present, '>') ? homeport_cut($offered) : null;
}

/** Regular files only: others could block. */
function homeport_header(string $path, array $fields): array
{
    if (!is_file($path) || !is_readable($path)) {
        return array_map(static fn() => '', $fields);
    }
    return array_map('homeport_cut', get_file_data($path, $fields));
}

function homeport_cut(string $text): string
{
    return mb_strcut($text, 0, MOST_BYTES);
}

function homeport_list(mixed $stored): array
{
    return is_array($stored) ? array_values(array_filter($stored, 'is_string')) : [];
}

/** The names in a folder, sorted, without hidden ones. `$left`: how many more files may be looked at. */
function homeport_names(string $folder, int &$left): array
{
    $names = [];
    $handle = @opendir($folder);
    while ($handle !== false && $left > 0 && ($name = readdir($handle)) !== false) {
        $left--;
        if ($name[0] !== '.') {
            $names[] = $name;
        }
    }
    sort($names, SORT_STRING);
    return $names;
}
